// atomic_uint as far as Metal has it on every family: relaxed.
#ifndef SOFTMETAL_MSL_ATOMICS_H
#define SOFTMETAL_MSL_ATOMICS_H

#include "types.h"

namespace metal {

struct atomic_uint {
  uint value;
};

enum memory_order { memory_order_relaxed };

inline uint atomic_load_explicit(const atomic_uint *object, memory_order) {
  return __atomic_load_n(&object->value, __ATOMIC_RELAXED);
}

inline uint atomic_fetch_min_explicit(atomic_uint *object, uint operand, memory_order) {
  uint seen = __atomic_load_n(&object->value, __ATOMIC_RELAXED);
  while (operand < seen &&
         !__atomic_compare_exchange_n(&object->value, &seen, operand, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}

} // namespace metal

#endif
