// What a kernel tells the host of bad contents.
#ifndef PAGEDRT_SHADERS_VERDICT_H
#define PAGEDRT_SHADERS_VERDICT_H

#include "arguments.h"
#include "dialect.h"
#include "place.h"

inline void note_bad_page(device atomic_uint *status, uint call, uint index) {
  if (index != PAGEDRT_UNSET) {
    atomic_fetch_min_explicit(status + 2 * call, index, memory_order_relaxed);
  }
}

inline void note_bad_dependency(device atomic_uint *status, uint call) {
  atomic_fetch_min_explicit(status + 2 * call + 1, 0u, memory_order_relaxed);
}

inline bool nothing_noted(device atomic_uint *status, uint call) {
  return atomic_load_explicit(status + 2 * call, memory_order_relaxed) == PAGEDRT_UNSET &&
         atomic_load_explicit(status + 2 * call + 1, memory_order_relaxed) == PAGEDRT_UNSET;
}

#endif
