// Functions of numbers.
#ifndef PAGEDRT_LINT_MATH_H
#define PAGEDRT_LINT_MATH_H

#include "types.h"

namespace metal {

#define ORDERED(type)          \
  type min(type, type);        \
  type max(type, type);        \
  type clamp(type, type, type);
#define FLOATING(type)         \
  type exp(type);              \
  type exp2(type);             \
  type rsqrt(type);            \
  type fmax(type, type);       \
  type fma(type, type, type);  \
  bool isnan(type);            \
  bool isinf(type);
ORDERED(short)
ORDERED(ushort)
ORDERED(int)
ORDERED(uint)
ORDERED(long)
ORDERED(ulong)
ORDERED(half)
ORDERED(float)
FLOATING(half)
FLOATING(float)
#undef FLOATING
#undef ORDERED

namespace fast {
float exp(float);
float exp2(float);
float rsqrt(float);
float divide(float, float);
} // namespace fast

namespace precise {
float exp(float);
float exp2(float);
float rsqrt(float);
float divide(float, float);
} // namespace precise

} // namespace metal

#endif
