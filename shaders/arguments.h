// What the host tells a kernel by setBytes, and what a kernel tells the host. Shared by C, Objective-C and MSL.
#ifndef PAGEDRT_SHADERS_ARGUMENTS_H
#define PAGEDRT_SHADERS_ARGUMENTS_H

#ifndef __METAL_VERSION__
#include <stdint.h>
#endif

// Fixed when a dispatch is prepared, but for the last three, which each call sets.
typedef struct pagedrt_arguments {
  uint32_t query_heads;
  uint32_t kv_heads;
  uint32_t head_dim;
  uint32_t page_size;
  uint32_t blocks; // 1 in the one-pass kernel
  float scale;
  uint32_t page_capacity;
  uint32_t context_tokens;
  uint32_t status; // index of this call's pagedrt_call_status
} pagedrt_arguments;

// Of the microbenchmarks' kernels.
typedef struct pagedrt_micro_arguments {
  uint32_t threadgroups;
  uint32_t rounds;
  uint32_t pages;         // entries of page_table
  uint32_t page_capacity; // pages that memory holds; an id at or beyond is passed over
  uint32_t page_loads;    // 16 bytes each, a multiple of PAGEDRT_MICRO_LOADS * SIMD_WIDTH
} pagedrt_micro_arguments;

#define PAGEDRT_MICRO_LOADS 4 // that a lane has in flight

// One a call in flight; the host fills it with PAGEDRT_UNSET before commit. Kernels keep the
// minimum, so that what is reported does not depend on the order of threadgroups.
typedef struct pagedrt_call_status {
  uint32_t bad_page;       // smallest index into page_table that holds an id >= page_capacity
  uint32_t bad_dependency; // 0 where dependency[0] > context_tokens
} pagedrt_call_status;

#define PAGEDRT_UNSET 0xFFFFFFFFu

// [[buffer(n)]] of each kernel's arguments, in the order of its parameters.
enum {
  PAGEDRT_ONE_PASS_QUERIES = 0,
  PAGEDRT_ONE_PASS_KEYS,
  PAGEDRT_ONE_PASS_VALUES,
  PAGEDRT_ONE_PASS_PAGE_TABLE,
  PAGEDRT_ONE_PASS_DEPENDENCY,
  PAGEDRT_ONE_PASS_OUT,
  PAGEDRT_ONE_PASS_STATUS,
  PAGEDRT_ONE_PASS_ARGUMENTS
};
enum {
  PAGEDRT_PARTIAL_QUERIES = 0,
  PAGEDRT_PARTIAL_KEYS,
  PAGEDRT_PARTIAL_VALUES,
  PAGEDRT_PARTIAL_PAGE_TABLE,
  PAGEDRT_PARTIAL_DEPENDENCY,
  PAGEDRT_PARTIAL_PARTIALS,  // float32 [query_heads, blocks, head_dim], unnormalised
  PAGEDRT_PARTIAL_SUMS,      // float32 [query_heads, blocks]
  PAGEDRT_PARTIAL_MAXIMUMS,  // float32 [query_heads, blocks]
  PAGEDRT_PARTIAL_BARRIER,   // never read: bound so that the device orders calls that share a scratch
  PAGEDRT_PARTIAL_STATUS,
  PAGEDRT_PARTIAL_ARGUMENTS
};
enum {
  PAGEDRT_REDUCE_PARTIALS = 0,
  PAGEDRT_REDUCE_SUMS,
  PAGEDRT_REDUCE_MAXIMUMS,
  PAGEDRT_REDUCE_OUT,
  PAGEDRT_REDUCE_STATUS,
  PAGEDRT_REDUCE_ARGUMENTS
};

enum {
  PAGEDRT_MICRO_MEMORY = 0,
  PAGEDRT_MICRO_PAGE_TABLE,
  PAGEDRT_MICRO_OUT,         // uint32 [threadgroups, SIMD width]
  PAGEDRT_MICRO_ARGUMENTS
};

// [[function_constant(n)]] of the one-pass and partial kernels.
enum { PAGEDRT_CONSTANT_HEADS = 0 }; // uint: query heads of one KV head that a SIMD-group serves, 1, 2, 4 or 8

// Elements of a query head's output that one threadgroup of the reduce kernel merges.
#define PAGEDRT_REDUCE_SPAN(simd_width) ((simd_width) == 1 ? PAGEDRT_MAX_PARTIAL_HEAD_DIM : (simd_width))

// How 32 lanes share a row of head_dim elements, each `size` bytes, in a kernel compiled for head_dim: 16 bytes
// a lane where a power of two allows it.
#define PAGEDRT_ROW_LANES(head_dim, size)     \
  (((head_dim) & ((head_dim)-1)) != 0 ? 16    \
   : (head_dim) * (size) / 16 < 32    ? (head_dim) * (size) / 16 \
                                      : 32)

#endif
