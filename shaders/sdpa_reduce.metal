// The second of two passes: a threadgroup for every query head merges its blocks and rounds once.
#include <metal_stdlib>
using namespace metal;

#include "arguments.h"
#include "output_store.h"
#include "place.h"
#include "verdict.h"
#if SIMD_WIDTH != 1
#include "weighted_sum.h"
#endif

// SIMD-groups take turns at blocks.
template <typename T>
[[kernel]] void sdpa_reduce(device const float *partials [[buffer(0)]], device const float *sums [[buffer(1)]],
                            device const float *maximums [[buffer(2)]], device T *out [[buffer(3)]],
                            device atomic_uint *status [[buffer(4)]],
                            constant pagedrt_arguments &args [[buffer(5)]], THREAD_GEOMETRY) {
  // What the partial kernel found wrong leaves `out` unwritten.
  const bool right = nothing_noted(status, args.status);
  const uint first = group.x * args.blocks;
  const uint at = group.y * PAGEDRT_REDUCE_SPAN(SIMD_WIDTH) + lane;
  const OutputStore<T> store = {out, args.head_dim, group.x};
  WeightedSum mine(at, args.head_dim);
  mine.add(partials + ulong(first) * args.head_dim + at, sums + first, maximums + first, simdgroup, simdgroups,
           args.blocks, args.head_dim);
  if (simdgroups == 1) {
    for (uint e = 0; e < mine.used && right; ++e) {
      store.element(0, int(at + e), mine.total[e], mine.sum);
    }
    return;
  }
  threadgroup float *maximums_of = shared + simdgroups * SIMD_WIDTH; // after [simdgroup, lane] totals
  threadgroup float *sums_of = maximums_of + simdgroups;
  shared[simdgroup * SIMD_WIDTH + lane] = mine.total[0];
  if (lane == 0) {
    maximums_of[simdgroup] = mine.maximum;
    sums_of[simdgroup] = mine.sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 0 && at < args.head_dim && right) {
    float maximum = NOTHING_SEEN;
    for (uint s = 0; s < simdgroups; ++s) {
      maximum = maximums_of[s] > maximum ? maximums_of[s] : maximum;
    }
    float value = 0.0f;
    float sum = 0.0f;
    for (uint s = 0; s < simdgroups; ++s) {
      const float weight = fast::exp(maximums_of[s] - maximum);
      value += shared[s * SIMD_WIDTH + lane] * weight;
      sum += sums_of[s] * weight;
    }
    store.element(0, int(at), value, sum);
  }
}

#define X(name, head_dim, suffix) \
  INSTANTIATE_KERNEL(PAGEDRT_KERNEL_NAME(name, head_dim, suffix), sdpa_reduce<PAGEDRT_TYPE_##suffix>)
PAGEDRT_REDUCE_INSTANCES(X)
#undef X
