/* Linux futexes of this process. */
#ifndef SOFTMETAL_FUTEX_H
#define SOFTMETAL_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Returns when woken, when *word is not `expected`, or after nanoseconds (0: never); also spuriously. */
static inline void futex_wait(const uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
  struct timespec timeout = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nanoseconds != 0 ? &timeout : NULL, NULL, 0);
}

static inline void futex_wake(const uint32_t *word, int threads) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

#endif
