#!/bin/sh
# Builds pagedrt under a sanitizer in build/KIND and runs tests on it.
# usage: tools/sanitize.sh asan|ubsan|tsan [build] [planted] [programs] [python]   (none named: all, in order)
#   planted: a bug planted in a copy is reported. programs: C programs and FUZZ_SECONDS (10) of the fuzz target.
#   fuzzer (asan, only where named): FUZZ_SECONDS of libFuzzer, which comes with clang, on the same target.
#   python: the tests listed in tests/sanitizers/KIND.tests.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
kind=$1
shift
[ $# -gt 0 ] || set -- build planted programs python
build=$root/build/$kind
python=$root/.venv/bin/python
PATH=$root/.venv/bin:$PATH
export PATH CC=gcc CXX=g++ OBJC=gcc

case $kind in
  asan) sanitizer=address ;;
  ubsan) sanitizer=undefined ;;
  tsan) sanitizer=thread ;;
  *) echo "sanitize.sh: $kind, expected asan, ubsan or tsan" >&2; exit 2 ;;
esac
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1"
export LSAN_OPTIONS="suppressions='$root/tests/sanitizers/leaks.supp':print_suppressions=0"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:die_after_fork=0"

# gcc 12's ThreadSanitizer knows only the layouts of a process without much randomisation.
fixed=""
if [ "$kind" = tsan ] && setarch -R true 2>/dev/null; then fixed="setarch -R"; fi

# Reports name lines; the kernels do without, which take minutes to compile so.
lines="-g -fno-omit-frame-pointer"

fuzz_sources="tests/fuzz/fuzz.c tests/fuzz/steps.c tests/fuzz/arrays.c tests/fuzz/memory.c"

compile() { # program, sources...
  program=$1
  shift
  # shellcheck disable=SC2086
  gcc -std=gnu11 -O1 -g -Wall -Wextra -pthread -fno-omit-frame-pointer "-fsanitize=$sanitizer" -Inative/include \
    -Itests/runtime -Itests/fuzz "$@" -o "$build/$program" "$build/native/libpagedrt.so" \
    -Wl,-rpath,"$build/native" -lm
}

make_build() {
  if [ ! -f "$build/build.ninja" ]; then
    coverage=""
    objects="[]" # a list, as Meson writes it: the path may hold a space
    mkdir -p "$build"
    if [ "$kind" = asan ]; then # what libFuzzer needs; see coverage.c
      coverage=-fsanitize-coverage=trace-pc
      objects="['$build/coverage.o']"
      gcc -O2 -fPIC -c tests/fuzz/coverage.c -o "$build/coverage.o"
    fi
    echo "building pagedrt under $sanitizer sanitizer (two minutes or so the first time)"
    meson setup "$build" --prefix=/ -Dpython.platlibdir=site -Dpython.purelibdir=site -Dtests=true \
      "-Db_sanitize=$sanitizer" "-Dc_args=$lines" "-Dobjc_args=$lines $coverage" \
      "-Dobjc_link_args=$objects" "-Dcpp_link_args=$objects" >"$build/setup.log" 2>&1 || { cat "$build/setup.log"; exit 1; }
  fi
  ninja -C "$build" --quiet
  compile threads tests/runtime/threads.c
  # shellcheck disable=SC2086
  compile fuzz $fuzz_sources tests/fuzz/standalone.c
}

run_planted() {
  # shellcheck disable=SC2086
  "$python" -P tests/sanitizers/planted.py "$kind" "$build" "$build/planted" $fixed
}

run_programs() {
  echo "$kind: threads"
  $fixed "$build/threads" 40
  echo "$kind: fuzz"
  $fixed "$build/fuzz" tests/fuzz/found/*
  $fixed "$build/fuzz" --seconds "${FUZZ_SECONDS:-10}" 1
  for program in "$build"/tests/softmetal/softmetal_*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    echo "$kind: $(basename "$program")"
    $fixed "$program" >"$build/output" 2>&1 || { cat "$build/output"; exit 1; }
  done
}

# Guided by coverage; what it finds worth keeping lies in build/asan/corpus.
run_fuzzer() {
  [ "$kind" = asan ] || { echo "sanitize.sh: fuzzer, expected with asan" >&2; exit 2; }
  runtime=$(clang --print-runtime-dir 2>/dev/null)/libclang_rt.fuzzer-$(uname -m).a
  [ -f "$runtime" ] || { echo "sanitize.sh: no libFuzzer; on Debian: apt-get install clang" >&2; exit 1; }
  # shellcheck disable=SC2086
  compile fuzzer $fuzz_sources "$runtime" -lstdc++
  mkdir -p "$build/corpus"
  "$build/fuzzer" "-max_total_time=${FUZZ_SECONDS:-10}" -max_len=1024 -print_final_stats=1 "$build/corpus"
}

# Python's own allocations live until the process ends: leaks are looked for in the C programs.
run_python() {
  DESTDIR=$build/installed meson install -C "$build" --no-rebuild --quiet >/dev/null
  runtime=$(gcc "-print-file-name=lib$kind.so"):$(gcc -print-file-name=libstdc++.so)
  export PYTHONPATH="$build/installed/site" PYTHONMALLOC=malloc PAGEDRT_BUILD="$build"
  export OPENBLAS_NUM_THREADS=1 # its threads are not built under the sanitizer
  export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" PAGEDRT_TEST_PROGRAMS="$build/tests/softmetal"
  # shellcheck disable=SC2046
  $fixed env LD_PRELOAD="$runtime" "$python" -P -m pytest -q -p no:cacheprovider $(grep -v '^#' "tests/sanitizers/$kind.tests")
}

for stage in "$@"; do
  case $stage in
    build) make_build ;;
    planted) run_planted ;;
    programs) run_programs ;;
    fuzzer) run_fuzzer ;;
    python) run_python ;;
    *) echo "sanitize.sh: $stage, expected build, planted, programs, fuzzer or python" >&2; exit 2 ;;
  esac
done
