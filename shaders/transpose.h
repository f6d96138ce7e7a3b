// Sums over lanes that leave each lane with its own share of the sums: half the shuffles and half the
// values at every step, where a butterfly for each value would end with all sums in all lanes.
#ifndef PAGEDRT_SHADERS_TRANSPOSE_H
#define PAGEDRT_SHADERS_TRANSPOSE_H

#include "dialect.h"

// Over 2 * STEP lanes. values[0] (and its followers, if COUNT exceeds the lanes) ends as the sum that
// is COUNT / lanes times the lane's number along; neighbours share one if COUNT is less.
template <int COUNT, int STEP>
struct Transpose {
  static void sum(thread float *values, uint lane) {
    const bool upper = (lane & STEP) != 0;
    UNROLL
    for (int i = 0; i < COUNT / 2; ++i) {
      const float keep = upper ? values[i + COUNT / 2] : values[i];
      const float give = upper ? values[i] : values[i + COUNT / 2];
      values[i] = keep + simd_shuffle_xor(give, STEP);
    }
    Transpose<COUNT / 2, STEP / 2>::sum(values, lane);
  }
};

template <int STEP>
struct Transpose<1, STEP> {
  static void sum(thread float *values, uint lane) {
    values[0] += simd_shuffle_xor(values[0], STEP);
    Transpose<1, STEP / 2>::sum(values, lane);
  }
};

template <int COUNT>
struct Transpose<COUNT, 0> {
  static void sum(thread float *, uint) {}
};

template <>
struct Transpose<1, 0> {
  static void sum(thread float *, uint) {}
};

#endif
