// A compensated sum of blocks' partials, each weighed by its maximum.
#ifndef PAGEDRT_SHADERS_WEIGHTED_SUM_H
#define PAGEDRT_SHADERS_WEIGHTED_SUM_H

#include "arguments.h"
#include "instances.h"
#include "state.h"

struct WeightedSum {
  enum : uint {
    ELEMENTS = PAGEDRT_REDUCE_SPAN(SIMD_WIDTH) / SIMD_WIDTH,
    DEPTH = SIMD_WIDTH == 1 ? 16 : 8 // blocks in flight
  };

  float maximum;
  float sum;
  float lost_sum;
  float total[ELEMENTS];
  float lost[ELEMENTS];
  uint used; // elements

  WeightedSum(uint at, uint head_dim)
      : maximum(-INFINITY), sum(0.0f), lost_sum(0.0f),
        used(SIMD_WIDTH == 1 ? head_dim : (at < head_dim ? 1 : 0)) {
    for (uint e = 0; e < used; ++e) {
      total[e] = lost[e] = 0.0f;
    }
  }

  // Blocks begin, begin + stride, ... of one query head; partials start at this thread's first element.
  void add(device const float *partials, device const float *sums, device const float *maximums, uint begin,
           uint stride, uint blocks, uint head_dim) {
    for (uint block = begin; block < blocks; block += stride * DEPTH) {
      float weights[DEPTH];
      float block_sums[DEPTH];
      float terms[DEPTH];
      float highest = -INFINITY;
      UNROLL
      for (uint j = 0; j < DEPTH; ++j) {
        const uint own = block + j * stride;
        const bool there = own < blocks;
        weights[j] = there ? maximums[own] : -INFINITY;
        block_sums[j] = there ? sums[own] : 0.0f;
        terms[j] = SIMD_WIDTH != 1 && there && used > 0 ? partials[ulong(own) * head_dim] : 0.0f;
        highest = weights[j] > highest ? weights[j] : highest;
      }
      if (highest > maximum + RAISE_MARGIN) {
        raise(highest);
      }
      UNROLL
      for (uint j = 0; j < DEPTH; ++j) {
        weights[j] = fast::exp(weights[j] - reference_of(maximum));
      }
      UNROLL
      for (uint j = 0; j < DEPTH; ++j) {
#if SIMD_WIDTH == 1
        const uint own = block + j * stride;
        if (own >= blocks) {
          break;
        }
        for (uint e = 0; e < used; ++e) {
          settle(total[e], lost[e], partials[ulong(own) * head_dim + e] * weights[j]);
        }
#else
        settle(total[0], lost[0], terms[j] * weights[j]);
#endif
        settle(sum, lost_sum, block_sums[j] * weights[j]);
      }
    }
  }

  void raise(float highest) {
    const float factor = fast::exp(maximum - reference_of(highest));
    sum *= factor;
    lost_sum *= factor;
    for (uint e = 0; e < used; ++e) {
      total[e] *= factor;
      lost[e] *= factor;
    }
    maximum = highest;
  }
};

#endif
