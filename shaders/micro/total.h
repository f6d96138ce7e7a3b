// What a threadgroup's threads found, as one word a lane: how every microbenchmark ends.
#ifndef PAGEDRT_SHADERS_MICRO_TOTAL_H
#define PAGEDRT_SHADERS_MICRO_TOTAL_H

#include "place.h"

// `slots` has room for every thread of the threadgroup and no thread still reads it.
inline void micro_total(device uint *out, threadgroup uint *slots, uint value, uint3 group, Place place) {
  slots[place.simdgroup * SIMD_WIDTH + place.lane] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (place.simdgroup == 0) {
    uint total = 0;
    for (uint s = 0; s < place.simdgroups; ++s) {
      total += slots[s * SIMD_WIDTH + place.lane];
    }
    out[group.x * SIMD_WIDTH + place.lane] = total;
  }
}

#endif
