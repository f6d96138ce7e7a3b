#include <metal_stdlib>
using namespace metal;

struct Place {
  uint thread_index;
  uint threads;
};
inline void meet(threadgroup float *shared, Place place) {
  shared[place.thread_index] = 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
inline uint leader(Place place) {
  return place.thread_index == 0 ? 1u : 0u;
}
template <typename T>
inline void fold(threadgroup T *shared, Place place) {
  for (uint step = place.thread_index; step > 0; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup); // rejected: barrier: threadgroup_barrier
  }
}
[[kernel]] void under_conditions(device float *x [[buffer(0)]], threadgroup float *shared [[threadgroup(0)]],
                  constant uint &n [[buffer(1)]], uint i [[thread_position_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  const Place place = {i, threads};
  if (i < n) {
    threadgroup_barrier(mem_flags::mem_threadgroup); // rejected: barrier: threadgroup_barrier
  } else {
    meet(shared, place); // rejected: barrier: meet
  }
  const uint first = leader(place);
  switch (first) {
  case 1:
    simdgroup_barrier(mem_flags::mem_none); // rejected: barrier: simdgroup_barrier
    break;
  default:
    break;
  }
  fold(shared, place);
  bool mine = false;
  if (i == 1) {
    mine = true;
  }
  while (mine) {
    threadgroup_barrier(mem_flags::mem_threadgroup); // rejected: barrier: threadgroup_barrier
    mine = false;
  }
  x[i] = shared[0];
}
[[kernel]] void after_a_return(device float *x [[buffer(0)]], threadgroup float *shared [[threadgroup(0)]],
                  constant uint &n [[buffer(1)]], uint i [[thread_position_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  const Place place = {i, threads};
  if (place.thread_index >= n) {
    return;
  }
  meet(shared, place); // rejected: barrier: meet
  x[i] = shared[0];
}
[[kernel]] void in_a_loop_that_some_leave(device float *x [[buffer(0)]], threadgroup float *shared [[threadgroup(0)]],
                  constant uint &n [[buffer(1)]], uint i [[thread_position_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  for (uint round = 0; round < n; ++round) {
    threadgroup_barrier(mem_flags::mem_threadgroup); // rejected: barrier: threadgroup_barrier
    if (shared[i] > 0.0f) {
      break;
    }
    shared[i] += float(threads);
  }
  x[i] = shared[0];
}
