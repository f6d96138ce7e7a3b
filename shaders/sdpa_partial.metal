// The first of two passes: a threadgroup for every KV head, tile of its query heads, and block of tokens.
#include <metal_stdlib>
using namespace metal;

#include "attend.h"

// float32 whatever T is: rounding partials to T loses bits, and float16 overflows.
struct PartialStore {
  device float *partials; // [query_heads, blocks, head_dim], unnormalised
  device float *sums;     // [query_heads, blocks]
  device float *maximums; // [query_heads, blocks]
  uint head_dim;
  uint block;
  uint blocks;
  uint first;

  uint row(int h) const { return (first + uint(h)) * blocks + block; }
  void element(int h, int at, float value, float) const { partials[ulong(row(h)) * head_dim + uint(at)] = value; }
  void head(int h, float maximum, float sum) const {
    maximums[row(h)] = maximum;
    sums[row(h)] = sum;
  }
};

// `barrier` is never read: it is bound so that the device orders the calls that share a scratch.
template <typename T, int D>
[[kernel]] void sdpa_partial(device const T *queries [[buffer(0)]], device const T *key_pages [[buffer(1)]],
                             device const T *value_pages [[buffer(2)]], device const uint *page_table [[buffer(3)]],
                             device const uint *dependency [[buffer(4)]], device float *partials [[buffer(5)]],
                             device float *sums [[buffer(6)]], device float *maximums [[buffer(7)]],
                             device const uint *barrier [[buffer(8)]], device atomic_uint *status [[buffer(9)]],
                             constant pagedrt_arguments &args [[buffer(10)]], THREAD_GEOMETRY) {
  (void)barrier;
  const Place place = {lane, simdgroup, simdgroups};
  PartialStore store = {partials, sums, maximums, args.head_dim, group.y, args.blocks, 0};
  attend_for_heads<T, D, false>(queries, key_pages, value_pages, page_table, dependency, status, args, shared, group, place,
                         store);
}

#define X(name, head_dim, suffix) \
  INSTANTIATE_KERNEL(PAGEDRT_KERNEL_NAME(name, head_dim, suffix), \
                     sdpa_partial<PAGEDRT_TYPE_##suffix, COMPILED_HEAD_DIM(head_dim)>)
PAGEDRT_PARTIAL_INSTANCES(X)
#undef X
