// A chain of simd_sum, each of what the one before gave: lane l ends at rounds * (SIMD_WIDTH - 1) + 2 * l,
// exact up to 16,000 rounds.
#ifndef PAGEDRT_SHADERS_MICRO_SIMD_SUM_H
#define PAGEDRT_SHADERS_MICRO_SIMD_SUM_H

#include "arguments.h"
#include "micro/total.h"

struct MicroSimdSum {
  static void run(device const uint4 *, device const uint *, device uint *out, constant pagedrt_micro_arguments &args,
                  threadgroup uint *slots, uint3 group, Place place) {
    const float own = float(2 * place.lane);
    float value = own;
    for (uint round = 0; round < args.rounds; ++round) {
      value = simd_sum(value) * (1.0f / SIMD_WIDTH) + own; // the mean of `own` is SIMD_WIDTH - 1
    }
    micro_total(out, slots, uint(value), group, place);
  }
};

#endif
