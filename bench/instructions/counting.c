/* What callgrind counts: from start to stop, named in its output. */
#include <stdio.h>
#include <valgrind/callgrind.h>

void counting_start(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

void counting_stop(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
