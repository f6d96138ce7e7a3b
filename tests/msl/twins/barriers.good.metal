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
template <typename T>
inline void fold(threadgroup T *shared, Place place) {
  for (uint step = place.threads / 2; step > 0; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (place.thread_index < step) {
      shared[place.thread_index] += shared[place.thread_index + step];
    }
  }
}
[[kernel]] void under_conditions(device float *x [[buffer(0)]], threadgroup float *shared [[threadgroup(0)]],
                  constant uint &n [[buffer(1)]], uint i [[thread_position_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  const Place place = {i, threads};
  if (threads < n) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  } else {
    meet(shared, place);
  }
  switch (n) {
  case 1:
    simdgroup_barrier(mem_flags::mem_none);
    break;
  default:
    break;
  }
  fold(shared, place);
  x[i] = shared[0];
}
[[kernel]] void after_a_return(device float *x [[buffer(0)]], threadgroup float *shared [[threadgroup(0)]],
                  constant uint &n [[buffer(1)]], uint i [[thread_position_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  const Place place = {i, threads};
  if (place.threads >= n) {
    return;
  }
  meet(shared, place);
  if (i >= n) {
    return;
  }
  x[i] = shared[0];
}
[[kernel]] void in_a_loop_that_all_leave(device float *x [[buffer(0)]], threadgroup float *shared [[threadgroup(0)]],
                  constant uint &n [[buffer(1)]], uint i [[thread_position_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  for (uint round = 0; round < n; ++round) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (shared[0] > 0.0f) {
      break;
    }
  }
  x[i] = shared[0];
}
