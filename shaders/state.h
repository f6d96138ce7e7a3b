// The running softmax over the tokens seen so far; sums and outputs are relative to exp(maximum).
#ifndef PAGEDRT_SHADERS_STATE_H
#define PAGEDRT_SHADERS_STATE_H

#include "layout.h"

// What exponents are taken against: nothing seen, or only -inf scores, must not give (-inf) - (-inf).
inline float reference_of(float maximum) {
  return maximum == -INFINITY ? 0.0f : maximum;
}

// An empty context has sum 0 and gives 0.
inline float normalised(float out, float sum) {
  return sum == 0.0f ? 0.0f : out / sum;
}

template <typename T, int D, int HEADS>
struct State {
  enum : int { ELEMENTS = Layout<T, D>::ELEMENTS };

  float maximum[HEADS];
  float sum[HEADS];
  float out[HEADS][ELEMENTS];

  void clear(int head_dim) {
    for (int h = 0; h < HEADS; ++h) {
      maximum[h] = -INFINITY;
      sum[h] = 0.0f;
      for (int e = 0; e < elements_used<T, D>(head_dim); ++e) {
        out[h][e] = 0.0f;
      }
    }
  }

  // Makes room for scores up to `other`; returns what new exponents are taken against.
  float raise(int h, float other, int head_dim) {
    const float highest = other > maximum[h] ? other : maximum[h];
    const float reference = reference_of(highest);
    if (highest != maximum[h]) {
      const float factor = fast::exp(maximum[h] - reference);
      sum[h] *= factor;
      for (int e = 0; e < elements_used<T, D>(head_dim); ++e) {
        out[h][e] *= factor;
      }
      maximum[h] = highest;
    }
    return reference;
  }

  // Merges the row slots of a SIMD-group; every lane ends with the whole.
  void merge_rows() {
    for (int h = 0; h < HEADS; ++h) {
      for (ushort step = Layout<T, D>::LANES; step < SIMD_WIDTH; step *= 2) {
        const float other = simd_shuffle_xor(maximum[h], step);
        const float highest = other > maximum[h] ? other : maximum[h];
        const float mine = fast::exp(maximum[h] - reference_of(highest));
        const float theirs = fast::exp(other - reference_of(highest));
        sum[h] = sum[h] * mine + simd_shuffle_xor(sum[h], step) * theirs;
        for (int e = 0; e < ELEMENTS; ++e) {
          out[h][e] = out[h][e] * mine + simd_shuffle_xor(out[h][e], step) * theirs;
        }
        maximum[h] = highest;
      }
    }
  }
};

#endif
