// The spellings that a Metal compiler and a C++ compiler do not share; softmetal defines its own first.
#ifndef PAGEDRT_SHADERS_DIALECT_H
#define PAGEDRT_SHADERS_DIALECT_H

#ifndef SIMD_WIDTH
#define SIMD_WIDTH 32
#endif

#ifndef INSTANTIATE_KERNEL
// Before a loop over an array that must stay in registers.
#define UNROLL _Pragma("clang loop unroll(full)")
#define INSTANTIATE_KERNEL(host, ...) template [[host_name(host)]] [[kernel]] decltype(__VA_ARGS__) __VA_ARGS__;
#define FUNCTION_CONSTANT(type, name, index) constant type name [[function_constant(index)]];
// The last parameters of every kernel.
#define THREAD_GEOMETRY                              \
  threadgroup float *shared [[threadgroup(0)]],      \
  uint3 group [[threadgroup_position_in_grid]],      \
  uint lane [[thread_index_in_simdgroup]],           \
  uint simdgroup [[simdgroup_index_in_threadgroup]], \
  uint simdgroups [[simdgroups_per_threadgroup]]
#endif

// The dtype suffixes of instances.h.
#define PAGEDRT_TYPE_f32 float
#define PAGEDRT_TYPE_f16 half
#define PAGEDRT_TYPE_bf16 bfloat

#endif
