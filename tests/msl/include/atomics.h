// Relaxed atomics. No fence and no coherent(device): those are MSL 3.2.
#ifndef PAGEDRT_LINT_ATOMICS_H
#define PAGEDRT_LINT_ATOMICS_H

#include "types.h"

// C++ for OpenCL has types of its own by these names.
#define atomic_int metal_atomic_int
#define atomic_uint metal_atomic_uint
#define atomic_float metal_atomic_float

namespace metal {

struct atomic_int {
  int value;
};
struct atomic_uint {
  uint value;
};
struct atomic_float {
  float value;
};
enum memory_order { memory_order_relaxed };

#define ATOMICS(space, atomic, type)                                          \
  type atomic_load_explicit(space const atomic *, memory_order);              \
  void atomic_store_explicit(space atomic *, type, memory_order);             \
  type atomic_exchange_explicit(space atomic *, type, memory_order);          \
  type atomic_fetch_add_explicit(space atomic *, type, memory_order);         \
  type atomic_fetch_sub_explicit(space atomic *, type, memory_order);
#define INTEGER_ATOMICS(space, atomic, type)                                  \
  ATOMICS(space, atomic, type)                                                \
  type atomic_fetch_min_explicit(space atomic *, type, memory_order);         \
  type atomic_fetch_max_explicit(space atomic *, type, memory_order);         \
  type atomic_fetch_and_explicit(space atomic *, type, memory_order);         \
  type atomic_fetch_or_explicit(space atomic *, type, memory_order);          \
  type atomic_fetch_xor_explicit(space atomic *, type, memory_order);
INTEGER_ATOMICS(device, atomic_int, int)
INTEGER_ATOMICS(device, atomic_uint, uint)
INTEGER_ATOMICS(threadgroup, atomic_int, int)
INTEGER_ATOMICS(threadgroup, atomic_uint, uint)
ATOMICS(device, atomic_float, float)
#undef INTEGER_ATOMICS
#undef ATOMICS

} // namespace metal

#endif
