// Enough of Metal's standard library for NVRTC to compile shaders/ at SIMD width 32, unchanged. Compiled
// with --device-as-default-execution-space; the flattened shader follows, then wrappers.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define SIMD_WIDTH 32
#define device
#define thread
#define threadgroup
#define constant const

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long long ulong;
typedef unsigned int uint32_t;
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 bfloat;

struct metal_float2 {
  float x, y;
  explicit metal_float2(half2 v) : x(__low2float(v)), y(__high2float(v)) {}
};
#define float2 metal_float2

template <typename To, typename From>
inline To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

namespace metal {
struct atomic_uint {
  uint value;
};
enum memory_order { memory_order_relaxed };
enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };

inline uint atomic_load_explicit(const atomic_uint *object, memory_order) {
  return *reinterpret_cast<const volatile uint *>(&object->value);
}
inline uint atomic_fetch_min_explicit(atomic_uint *object, uint operand, memory_order) {
  return atomicMin(&object->value, operand);
}
inline void threadgroup_barrier(mem_flags) { __syncthreads(); }
inline uint simd_min(uint value) { return __reduce_min_sync(0xFFFFFFFFu, value); }
inline uint simd_max(uint value) { return __reduce_max_sync(0xFFFFFFFFu, value); }
inline float simd_shuffle(float value, ushort lane) { return __shfl_sync(0xFFFFFFFFu, value, lane); }
inline float simd_shuffle_xor(float value, ushort mask) { return __shfl_xor_sync(0xFFFFFFFFu, value, mask); }
template <typename T>
inline T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
inline T max(T a, T b) {
  return a < b ? b : a;
}
namespace fast {
inline float exp(float x) { return __expf(x); }
} // namespace fast
} // namespace metal

// Specialisation happens when the pipeline is compiled, as on Metal.
#define FUNCTION_CONSTANT(type, name, index) constexpr type name = CONSTANT_##index;
#define UNROLL _Pragma("unroll")
#define THREAD_GEOMETRY float *shared, uint3 group, uint lane, uint simdgroup, uint simdgroups
// wrappers.cuh instantiates what is asked for
#define INSTANTIATE_KERNEL(host, ...)
