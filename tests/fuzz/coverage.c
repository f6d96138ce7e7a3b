/* Coverage of gcc's code for libFuzzer, which itself knows only clang's: -fsanitize-coverage=trace-pc calls
 * the function below at every edge, and the counters are handed to libFuzzer where it is linked. */
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

enum { COUNTERS = 1 << 14 };

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *end) __attribute__((weak));
HIDDEN void __sanitizer_cov_trace_pc(void);

static uint8_t counters[COUNTERS];

__attribute__((constructor)) static void hand_over(void) {
  if (__sanitizer_cov_8bit_counters_init != NULL) __sanitizer_cov_8bit_counters_init(counters, counters + COUNTERS);
}

/* Several threads may count at once and lose a step: what matters is that an edge was taken. */
void __sanitizer_cov_trace_pc(void) {
  uint32_t place = (uint32_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)hand_over);
  uint8_t *counter = &counters[place * 2654435769u >> 18];
  if (*counter < 255) ++*counter;
}
