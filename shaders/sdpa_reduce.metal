// The second of two passes: a threadgroup for every query head merges its blocks and rounds once.
#include <metal_stdlib>
using namespace metal;

#include "arguments.h"
#include "finish.h"
#include "output_store.h"

template <typename T>
[[kernel]] void sdpa_reduce(device const float *partials [[buffer(0)]], device const float *sums [[buffer(1)]],
                            device const float *maximums [[buffer(2)]], device T *out [[buffer(3)]],
                            device atomic_uint *status [[buffer(4)]],
                            constant pagedrt_arguments &args [[buffer(5)]], THREAD_GEOMETRY) {
  const Place place = {lane, simdgroup, simdgroups};
  // What the partial kernel found wrong leaves `out` unwritten.
  device atomic_uint *slot = status + 2 * args.status;
  if (atomic_load_explicit(slot, memory_order_relaxed) == PAGEDRT_UNSET &&
      atomic_load_explicit(slot + 1, memory_order_relaxed) == PAGEDRT_UNSET) {
    const int head_dim = int(args.head_dim);
    State<float, 0, 1> state;
    state.clear(head_dim);
    for (uint block = simdgroup; block < args.blocks; block += simdgroups) {
      const uint row = group.x * args.blocks + block;
      const float reference = state.raise(0, maximums[row], head_dim);
      const float weight = fast::exp(maximums[row] - reference);
      device const float *partial = partials + ulong(row) * args.head_dim;
      settle(state.settled_sum[0], state.lost_sum[0], sums[row] * weight);
      for (int e = 0; e < elements_used<float, 0>(head_dim); ++e) {
        const int at = element_of<float, 0>(lane, e);
        if (at < head_dim) {
          settle(state.settled_out[0][e], state.lost_out[0][e], partial[at] * weight);
        }
      }
    }
    state.end(head_dim);
    const OutputStore<T> store = {out, args.head_dim, group.x};
    finish<float, 0, 1>(state, 1, head_dim, shared, place, store);
  }
}

#define X(name, head_dim, suffix) \
  INSTANTIATE_KERNEL(PAGEDRT_KERNEL_NAME(name, head_dim, suffix), sdpa_reduce<PAGEDRT_TYPE_##suffix>)
PAGEDRT_REDUCE_INSTANCES(X)
#undef X
