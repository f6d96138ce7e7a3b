// The compensated sum of blocks' partials by one thread that merges a whole head: what weighted_sum.h is to lanes.
#ifndef PAGEDRT_SHADERS_WIDTH1_WEIGHTED_SUM_H
#define PAGEDRT_SHADERS_WIDTH1_WEIGHTED_SUM_H

#include "exponential.h"
#include "instances.h"
#include "state.h"
#include "vector.h"

struct WeightedSum {
  enum : uint {
    DEPTH = 16, // blocks weighed at once
    CHUNK = 32, // elements summed up in registers: every head_dim with partials is a multiple of it
    VECTORS = CHUNK / VECTOR_FLOATS
  };

  alignas(Vector) float total[PAGEDRT_MAX_PARTIAL_HEAD_DIM];
  alignas(Vector) float lost[PAGEDRT_MAX_PARTIAL_HEAD_DIM];
  float maximum;
  float sum;
  float lost_sum;
  uint used; // elements

  WeightedSum(uint, uint head_dim) : maximum(NOTHING_SEEN), sum(0.0f), lost_sum(0.0f), used(head_dim) {
    for (uint e = 0; e < used; ++e) {
      total[e] = lost[e] = 0.0f;
    }
  }

  // All blocks of one query head.
  void add(const float *partials, const float *sums, const float *maximums, uint, uint, uint blocks, uint) {
    for (uint block = 0; block < blocks; block += DEPTH) {
      const uint count = min(blocks - block, uint(DEPTH));
      alignas(Vector) float weights[DEPTH];
      weigh(maximums + block, count, weights);
      for (uint j = 0; j < count; ++j) {
        settle(sum, lost_sum, sums[block + j] * weights[j]);
      }
      for (uint e = 0; e < used; e += CHUNK) {
        add_chunk(partials + ulong(block) * used + e, weights, count, total + e, lost + e);
      }
    }
  }

  void weigh(const float *maximums, uint count, float *weights) {
    float highest = maximum;
    for (uint j = 0; j < DEPTH; ++j) {
      weights[j] = j < count ? maximums[j] : NOTHING_SEEN;
      highest = weights[j] > highest ? weights[j] : highest;
    }
    if (highest > maximum + RAISE_MARGIN) {
      raise(highest);
    }
    for (uint j = 0; j < DEPTH; j += VECTOR_FLOATS) {
      store_vector(weights + j, exponential(load_vector(weights + j) - maximum));
    }
  }

  void add_chunk(const float *partials, const float *weights, uint count, float *totals, float *losses) const {
    Vector sums[VECTORS], lost_here[VECTORS];
    UNROLL_VECTORS
    for (uint v = 0; v < VECTORS; ++v) {
      sums[v] = load_vector(totals + v * VECTOR_FLOATS);
      lost_here[v] = load_vector(losses + v * VECTOR_FLOATS);
    }
    for (uint j = 0; j < count; ++j) {
      UNROLL_VECTORS
      for (uint v = 0; v < VECTORS; ++v) {
        settle(sums[v], lost_here[v], load_vector(partials + j * used + v * VECTOR_FLOATS) * weights[j]);
      }
    }
    UNROLL_VECTORS
    for (uint v = 0; v < VECTORS; ++v) {
      store_vector(totals + v * VECTOR_FLOATS, sums[v]);
      store_vector(losses + v * VECTOR_FLOATS, lost_here[v]);
    }
  }

  void raise(float highest) {
    const float factor = fast::exp(maximum - highest);
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
