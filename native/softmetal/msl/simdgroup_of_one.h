// SIMD-group functions and barriers at width 1, where a SIMD-group is one thread and so is a threadgroup.
#ifndef SOFTMETAL_MSL_SIMDGROUP_OF_ONE_H
#define SOFTMETAL_MSL_SIMDGROUP_OF_ONE_H

#include "types.h"

namespace metal {

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };

inline void threadgroup_barrier(mem_flags) {}

template <typename T>
inline T simd_sum(T value) {
  return value;
}

template <typename T>
inline T simd_min(T value) {
  return value;
}

} // namespace metal

#endif
