// metal::min, max and fast::exp.
#ifndef SOFTMETAL_MSL_MATH_H
#define SOFTMETAL_MSL_MATH_H

#include "types.h"

namespace metal {

template <typename T>
inline T min(T a, T b) {
  return b < a ? b : a;
}

template <typename T>
inline T max(T a, T b) {
  return a < b ? b : a;
}

namespace fast {

// exp(x) = p * 2^n for floats and vectors of them: returns p, which is exp(r), |r| <= ln(2)/2, by its Taylor series
// cut at r^7.
template <typename F>
inline F exp_parts(F x, F &n) {
  n = (x * 1.44269504088896f + 0x1.8p23f) - 0x1.8p23f;
  F r = x - n * 0x1.62e4p-1f; // ln(2) in two parts: the first times n is exact
  r = r - n * 0x1.7f7d1cp-20f;
  F p = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  return p * r + 1.0f;
}

// Branch-free, so that loops over it vectorise; at most 1 ulp of error in the normal range.
inline float exp(float x) {
  float t = x < -104.0f ? -104.0f : x; // exp(-104) rounds to 0
  t = t > 89.0f ? 89.0f : t;           // exp(89) is infinite
  float n;
  const float p = exp_parts(t, n);
  // 2^n in two factors: n reaches -150, past what one float exponent holds; NaN has no int
  const int whole = n == n ? int(n) : 0;
  const int first = whole >> 1;
  const int second = whole - first;
  return p * as_type<float>(uint(first + 127) << 23) * as_type<float>(uint(second + 127) << 23);
}

} // namespace fast
} // namespace metal

#endif
