// The softmax over the tokens that a SIMD-group has seen. Sums and outputs are relative to exp(maximum),
// which is the largest score or a little less.
#ifndef PAGEDRT_SHADERS_STATE_H
#define PAGEDRT_SHADERS_STATE_H

#include "layout.h"

// Finite, since fast math takes an infinite constant for a thing that cannot be. A score of -inf weighs 0 against either.
#define NOTHING_SEEN -3.4028233e38f // a maximum before any score
#define NO_SCORE -3.4028235e38f     // of a token that is not there: the next float below, so that it weighs 0 too

// An empty context has sum 0, which is not negative, and gives 0. Compared as bits: a NaN under fast math may equal 0.
inline float normalised(float out, float sum) {
  return as_type<uint>(sum) == 0u ? 0.0f : out / sum;
}

// A maximum is raised only when a score lies this far above it, so that rescaling, which rounds, is
// rare; weights stay below exp(8).
#define RAISE_MARGIN 8.0f

// Compensated addition: what total + term rounds away is kept in `lost` and added next time.
template <typename F>
inline void settle(thread F &total, thread F &lost, F term) {
  const F adjusted = term - lost;
  const F grown = total + adjusted;
  const F error = (grown - total) - adjusted;
  lost = error == error ? error : F{}; // an infinite total loses nothing
  total = grown;
}

template <typename T, int D, int HEADS>
struct State {
  enum : int { ELEMENTS = Layout<T, D>::ELEMENTS };

  float maximum[HEADS];
  float sum[HEADS];
  float out[HEADS][ELEMENTS];

  // Merges the row slots of a SIMD-group; every lane ends with the whole.
  void merge_rows() {
    UNROLL
    for (int h = 0; h < HEADS; ++h) {
      for (ushort step = Layout<T, D>::LANES; step < SIMD_WIDTH; step *= 2) {
        const float other = simd_shuffle_xor(maximum[h], step);
        const float highest = other > maximum[h] ? other : maximum[h];
        const float mine = fast::exp(maximum[h] - highest);
        const float theirs = fast::exp(other - highest);
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
