#!/bin/sh
# Makes sure that this machine can build pagedrt, or says the one command that would.
# usage: tools/toolchain.sh PYTHON
set -u
python=$1
missing=""

compiles() { # language, source
  printf '%s\n' "$2" | gcc -x "$1" -c -o /dev/null - 2>/dev/null
}

if ! command -v "$python" >/dev/null 2>&1; then
  missing="$missing python3"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "pagedrt: $python is older than Python 3.11; name a newer one, such as: make PYTHON=python3.12" >&2
  exit 1
fi
command -v gcc >/dev/null 2>&1 || missing="$missing gcc"
compiles c '#include <stdlib.h>' || missing="$missing libc6-dev"
compiles c++ '#include <tuple>' || missing="$missing g++"
compiles objective-c '#import <objc/objc.h>' || missing="$missing gobjc"
if command -v "$python" >/dev/null 2>&1; then
  "$python" -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"
  header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
  [ -e "$header" ] || missing="$missing python3-dev"
else
  missing="$missing python3-venv python3-dev"
fi
if [ "$(uname -s)" = Linux ]; then # the guard of the kernels' instruction counts
  command -v valgrind >/dev/null 2>&1 && [ -e /usr/include/valgrind/callgrind.h ] || missing="$missing valgrind"
fi
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "pagedrt: missing here:$missing (Debian's package names); install them, then run make again" >&2
  exit 1
fi
if [ "$(id -u)" = 0 ]; then
  sudo=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  sudo="sudo"
else
  echo "pagedrt: missing here:$missing; run this, then make again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y$missing" >&2
  exit 1
fi
echo "pagedrt: installing$missing"
$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
