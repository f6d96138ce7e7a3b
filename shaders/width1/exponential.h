// What fast::exp, a builtin on Metal, is to vectors.
#ifndef PAGEDRT_SHADERS_WIDTH1_EXPONENTIAL_H
#define PAGEDRT_SHADERS_WIDTH1_EXPONENTIAL_H

#include "vector.h"

// p * 2^n of each lane, for whole n from -150 to 127.
ALWAYS_INLINE Vector scaled_by_power(Vector p, Vector n) {
#if defined(__AVX512F__)
  return (Vector)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
  // two factors: n reaches past what one float exponent holds
  const Lanes whole = __builtin_convertvector(n, Lanes), first = whole >> 1, second = whole - first;
  return p * (Vector)((first + 127) << 23) * (Vector)((second + 127) << 23);
#endif
}

// What fast::exp gives for each lane, none of which is above 88.
ALWAYS_INLINE Vector exponential(Vector v) {
  const Vector least = Vector{} - 104.0f; // exp(-104) rounds to 0
  Vector n;
  const Vector p = fast::exp_parts(v < least ? least : v, n);
  return scaled_by_power(p, n);
}

#endif
