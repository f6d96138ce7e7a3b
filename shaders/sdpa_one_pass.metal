// One pass over the whole context: a threadgroup for every KV head and tile of its query heads.
#include <metal_stdlib>
using namespace metal;

#include "attend.h"
#include "output_store.h"

template <typename T, int D>
[[kernel]] void sdpa_one_pass(device const T *queries [[buffer(0)]], device const T *key_pages [[buffer(1)]],
                              device const T *value_pages [[buffer(2)]], device const uint *page_table [[buffer(3)]],
                              device const uint *dependency [[buffer(4)]], device T *out [[buffer(5)]],
                              device atomic_uint *status [[buffer(6)]],
                              constant pagedrt_arguments &args [[buffer(7)]], THREAD_GEOMETRY) {
  const Place place = {lane, simdgroup, simdgroups};
  OutputStore<T> store = {out, args.head_dim, 0};
  attend_for_heads<T, D, true>(queries, key_pages, value_pages, page_table, dependency, status, args, shared, group, place,
                         store);
}

#define X(name, head_dim, suffix) \
  INSTANTIATE_KERNEL(PAGEDRT_KERNEL_NAME(name, head_dim, suffix), \
                     sdpa_one_pass<PAGEDRT_TYPE_##suffix, COMPILED_HEAD_DIM(head_dim)>)
PAGEDRT_ONE_PASS_INSTANCES(X)
#undef X
