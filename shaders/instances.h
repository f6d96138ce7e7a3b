// Every kernel instance there is: the .metal files compile this table and the host looks up in it.
// X(name, head_dim, dtype suffix): head_dim 0 takes any up to PAGEDRT_MAX_HEAD_DIM.
#ifndef PAGEDRT_SHADERS_INSTANCES_H
#define PAGEDRT_SHADERS_INSTANCES_H

#define PAGEDRT_MAX_HEAD_DIM 512
#define PAGEDRT_MAX_PARTIAL_HEAD_DIM 256
#define PAGEDRT_MAX_BLOCKS 1024
#define PAGEDRT_MAX_TOKENS 2147483647 // kernels add to numbers of tokens, which must stay below 2^32
#define PAGEDRT_MAX_PARTIAL_GROUP_FACTOR 32 // query heads a KV head in the two-pass path

#define PAGEDRT_DTYPES(X, name, head_dim) X(name, head_dim, f32) X(name, head_dim, f16) X(name, head_dim, bf16)

#define PAGEDRT_DIMS_TO_256(X, name) \
  PAGEDRT_DTYPES(X, name, 32) \
  PAGEDRT_DTYPES(X, name, 64) \
  PAGEDRT_DTYPES(X, name, 96) \
  PAGEDRT_DTYPES(X, name, 128) \
  PAGEDRT_DTYPES(X, name, 160) \
  PAGEDRT_DTYPES(X, name, 192) \
  PAGEDRT_DTYPES(X, name, 224) \
  PAGEDRT_DTYPES(X, name, 256)

#define PAGEDRT_ONE_PASS_INSTANCES(X) \
  PAGEDRT_DIMS_TO_256(X, one_pass) \
  PAGEDRT_DTYPES(X, one_pass, 0)
#define PAGEDRT_PARTIAL_INSTANCES(X) PAGEDRT_DIMS_TO_256(X, partial)
#define PAGEDRT_REDUCE_INSTANCES(X) PAGEDRT_DTYPES(X, reduce, 0)

// Those that `bench --micro` times: X(name, the type that says what a thread does).
#define PAGEDRT_MICRO_INSTANCES(X) \
  X(read, MicroRead) \
  X(barrier, MicroBarrier) \
  X(simd_sum, MicroSimdSum)
#define PAGEDRT_MICRO_NAME(name) "pagedrt_micro_" #name

// The host name: pagedrt_sdpa_partial_hd128_bf16, pagedrt_sdpa_one_pass_hd64_f32, ...; head_dim 0
// reads "_hd0_".
#define PAGEDRT_KERNEL_NAME(name, head_dim, suffix) "pagedrt_sdpa_" #name "_hd" #head_dim "_" #suffix

#endif
