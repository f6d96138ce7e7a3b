/* What device.stats reports. Relaxed: each number is exact, the set is no snapshot. */
#ifndef PAGEDRT_COUNTERS_H
#define PAGEDRT_COUNTERS_H

#include <stdint.h>

static inline void count_up(uint64_t *counter, uint64_t by) {
  __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

static inline uint64_t count_read(const uint64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
