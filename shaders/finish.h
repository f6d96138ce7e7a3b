// The merge of a threadgroup's SIMD-groups.
#ifndef PAGEDRT_SHADERS_FINISH_H
#define PAGEDRT_SHADERS_FINISH_H

#include "place.h"
#include "state.h"

// Hands each head's merged state to `store`: store.element(h, at, out, sum) and store.head(h, maximum, sum);
// nothing where any SIMD-group saw a bad page. The same barriers in every thread.
template <typename T, int D, int HEADS, typename Store>
inline void finish(thread const State<T, D, HEADS> &state, bool legal, uint heads, int head_dim,
                   threadgroup float *shared, Place place, thread const Store &store) {
  if (place.simdgroups == 1) {
    UNROLL
    for (int h = 0; h < HEADS; ++h) {
      if (uint(h) < heads && legal) {
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
  // a SIMD-group: whether it is legal, then [maximum, sum, out...] a head
  const uint row = uint(head_dim) + 2;
  const uint part = row * HEADS + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup); // others may still read what has settled
  threadgroup float *mine = shared + place.simdgroup * part;
  UNROLL
  for (int h = 0; h < HEADS; ++h) {
    UNROLL
    for (int e = 0; e < int(Layout<T, D>::ELEMENTS); ++e) {
      const int at = element_of<T, D>(place.lane, e);
      if (place.lane < uint(Layout<T, D>::LANES) && at < head_dim) {
        mine[1 + h * row + 2 + at] = state.out[h][e];
      }
    }
    if (place.lane == 0) {
      mine[0] = legal ? 1.0f : 0.0f;
      mine[1 + h * row] = state.maximum[h];
      mine[1 + h * row + 1] = state.sum[h];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 0; s < place.simdgroups; ++s) {
    legal = legal && shared[s * part] != 0.0f;
  }
  for (uint h = 0; h < heads && legal; ++h) {
    threadgroup const float *parts = shared + 1 + h * row;
    float maximum = NOTHING_SEEN;
    for (uint s = 0; s < place.simdgroups; ++s) {
      const float other = parts[s * part];
      maximum = other > maximum ? other : maximum;
    }
    float sum = 0.0f;
    for (uint s = 0; s < place.simdgroups; ++s) {
      sum += parts[s * part + 1] * fast::exp(parts[s * part] - maximum);
    }
    const uint threads = place.simdgroups * SIMD_WIDTH;
    for (uint at = place.simdgroup * SIMD_WIDTH + place.lane; at < uint(head_dim); at += threads) {
      float out = 0.0f;
      for (uint s = 0; s < place.simdgroups; ++s) {
        out += parts[s * part + 2 + at] * fast::exp(parts[s * part] - maximum);
      }
      store.element(int(h), int(at), out, sum);
    }
    if (place.simdgroup == 0 && place.lane == 0) {
      store.head(int(h), maximum, sum);
    }
  }
}

#endif
