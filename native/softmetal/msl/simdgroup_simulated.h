// SIMD-group functions and barriers of a simulated thread: they meet the other lanes in the engine.
#ifndef SOFTMETAL_MSL_SIMDGROUP_SIMULATED_H
#define SOFTMETAL_MSL_SIMDGROUP_SIMULATED_H

#include "types.h"

namespace metal {

enum class mem_flags { mem_none = 0, mem_device = SIMULATOR_MEM_DEVICE, mem_threadgroup = SIMULATOR_MEM_THREADGROUP };

SOFTMETAL_UNCHECKED inline void threadgroup_barrier(mem_flags flags) {
  softmetal_simulator_barrier(int(flags));
}

// Operations of one number may meet: a shuffle_xor's mask must be the same in every lane.
enum : uint64_t { OPERATION_MIN = 1, OPERATION_MAX, OPERATION_SUM, OPERATION_SHUFFLE, OPERATION_SHUFFLE_XOR = 0x100 };

SOFTMETAL_UNCHECKED inline uint simd_min(uint value) {
  const uint64_t *values = softmetal_simulator_exchange(value, OPERATION_MIN);
  uint least = value;
  for (int lane = 0; lane < SIMULATOR_WIDTH; ++lane) {
    least = uint(values[lane]) < least ? uint(values[lane]) : least;
  }
  return least;
}

SOFTMETAL_UNCHECKED inline uint simd_max(uint value) {
  const uint64_t *values = softmetal_simulator_exchange(value, OPERATION_MAX);
  uint most = value;
  for (int lane = 0; lane < SIMULATOR_WIDTH; ++lane) {
    most = uint(values[lane]) > most ? uint(values[lane]) : most;
  }
  return most;
}

// In the order of lanes: Metal leaves the order open.
SOFTMETAL_UNCHECKED inline float simd_sum(float value) {
  const uint64_t *values = softmetal_simulator_exchange(as_type<uint>(value), OPERATION_SUM);
  float sum = 0.0f;
  for (int lane = 0; lane < SIMULATOR_WIDTH; ++lane) {
    sum += as_type<float>(uint(values[lane]));
  }
  return sum;
}

SOFTMETAL_UNCHECKED inline float simd_shuffle(float value, ushort lane) {
  const uint64_t *values = softmetal_simulator_exchange(as_type<uint>(value), OPERATION_SHUFFLE);
  return as_type<float>(uint(values[lane % SIMULATOR_WIDTH]));
}

SOFTMETAL_UNCHECKED inline float simd_shuffle_xor(float value, ushort mask) {
  const uint64_t *values = softmetal_simulator_exchange(as_type<uint>(value), OPERATION_SHUFFLE_XOR + mask);
  return as_type<float>(uint(values[softmetal_simulator_lane() ^ mask]));
}

} // namespace metal

#endif
