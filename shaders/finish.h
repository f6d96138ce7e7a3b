// The merge of a threadgroup's SIMD-groups.
#ifndef PAGEDRT_SHADERS_FINISH_H
#define PAGEDRT_SHADERS_FINISH_H

#include "place.h"
#include "state.h"

// Hands head h's merged state to `store`, element by element: store.element(h, at, out, sum) and
// store.head(h, maximum, sum). The same barriers in every thread.
template <typename T, int D, int HEADS, typename Store>
inline void finish(thread const State<T, D, HEADS> &state, uint heads, int head_dim, threadgroup float *shared,
                   Place place, thread const Store &store) {
  if (place.simdgroups == 1) {
    for (int h = 0; h < HEADS; ++h) {
      if (uint(h) < heads) {
        for (int e = 0; e < elements_used<T, D>(head_dim); ++e) {
          const int at = element_of<T, D>(place.lane, e);
          if (place.lane < uint(Layout<T, D>::LANES) && at < head_dim) {
            store.element(h, at, state.out[h][e], state.sum[h]);
          }
        }
        if (place.lane == 0) {
          store.head(h, state.maximum[h], state.sum[h]);
        }
      }
    }
    return;
  }
  // [maximum, sum, out...] a SIMD-group
  const uint row = uint(head_dim) + 2;
  for (int h = 0; h < HEADS; ++h) {
    if (uint(h) < heads) {
      threadgroup float *mine = shared + place.simdgroup * row;
      for (int e = 0; e < elements_used<T, D>(head_dim); ++e) {
        const int at = element_of<T, D>(place.lane, e);
        if (place.lane < uint(Layout<T, D>::LANES) && at < head_dim) {
          mine[2 + at] = state.out[h][e];
        }
      }
      if (place.lane == 0) {
        mine[0] = state.maximum[h];
        mine[1] = state.sum[h];
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      float maximum = -INFINITY;
      for (uint s = 0; s < place.simdgroups; ++s) {
        const float other = shared[s * row];
        maximum = other > maximum ? other : maximum;
      }
      float sum = 0.0f;
      for (uint s = 0; s < place.simdgroups; ++s) {
        sum += shared[s * row + 1] * fast::exp(shared[s * row] - reference_of(maximum));
      }
      const uint threads = place.simdgroups * SIMD_WIDTH;
      for (uint at = place.simdgroup * SIMD_WIDTH + place.lane; at < uint(head_dim); at += threads) {
        float out = 0.0f;
        for (uint s = 0; s < place.simdgroups; ++s) {
          out += shared[s * row + 2 + at] * fast::exp(shared[s * row] - reference_of(maximum));
        }
        store.element(h, int(at), out, sum);
      }
      if (place.simdgroup == 0 && place.lane == 0) {
        store.head(h, maximum, sum);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
}

#endif
