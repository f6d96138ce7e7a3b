#!/bin/sh
# Clang and the linker of the package ziglang, spoken to as if they were Apple's; links against the stubs beside this.
# usage: ZIG=<zig> tools/macos/zig.sh ARGUMENTS
here=$(dirname "$0")
# The questions by which Meson tells linkers apart: this one takes the flags of Apple's.
case " $* " in
  *" -Wl,--version "*) echo "ld: unknown options: --version" >&2; exit 1 ;;
  *" -Wl,-v "*) echo "@(#)PROGRAM:ld PROJECT:ld64-820" >&2; exit 0 ;;
esac
for argument; do
  shift
  case $argument in
    # No install_name_tool runs at installation, so the rpath of the installed place is written at once.
    -Wl,-rpath,@loader_path/*) argument=-Wl,-rpath,@loader_path ;;
    -bundle) argument=-shared ;; # the linker crashes on bundles; CPython loads either
    -Wl,-fatal_warnings) continue ;; # unknown to it
  esac
  set -- "$@" "$argument"
done
exec "$ZIG" cc -target aarch64-macos.14.0 -F"$here/frameworks" -L"$here/lib" "$@"
