// A compensated sum of blocks' partials, each weighed by its maximum: one element a lane.
#ifndef PAGEDRT_SHADERS_WEIGHTED_SUM_H
#define PAGEDRT_SHADERS_WEIGHTED_SUM_H

#include "state.h"

struct WeightedSum {
  enum : uint { DEPTH = 8 }; // blocks in flight

  float maximum;
  float sum;
  float lost_sum;
  float total[1];
  float lost;
  uint used; // elements, of one

  WeightedSum(uint at, uint head_dim)
      : maximum(NOTHING_SEEN), sum(0.0f), lost_sum(0.0f), lost(0.0f), used(at < head_dim ? 1 : 0) {
    total[0] = 0.0f;
  }

  // Blocks begin, begin + stride, ... of one query head; partials start at this lane's element.
  void add(device const float *partials, device const float *sums, device const float *maximums, uint begin,
           uint stride, uint blocks, uint head_dim) {
    for (uint block = begin; block < blocks; block += stride * DEPTH) {
      float weights[DEPTH];
      float block_sums[DEPTH];
      float terms[DEPTH];
      float highest = NOTHING_SEEN;
      UNROLL
      for (uint j = 0; j < DEPTH; ++j) {
        const uint own = block + j * stride;
        const bool there = own < blocks;
        weights[j] = there ? maximums[own] : NOTHING_SEEN;
        block_sums[j] = there ? sums[own] : 0.0f;
        terms[j] = there && used > 0 ? partials[ulong(own) * head_dim] : 0.0f;
        highest = weights[j] > highest ? weights[j] : highest;
      }
      if (highest > maximum + RAISE_MARGIN) {
        raise(highest);
      }
      UNROLL
      for (uint j = 0; j < DEPTH; ++j) {
        weights[j] = fast::exp(weights[j] - maximum);
        settle(sum, lost_sum, block_sums[j] * weights[j]);
        settle(total[0], lost, terms[j] * weights[j]);
      }
    }
  }

  void raise(float highest) {
    const float factor = fast::exp(maximum - highest);
    sum *= factor;
    lost_sum *= factor;
    total[0] *= factor;
    lost *= factor;
    maximum = highest;
  }
};

#endif
