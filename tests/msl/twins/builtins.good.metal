#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], device atomic_uint *count [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  x[i] = simd_shuffle_down(x[i], ushort(1));
  x[i] += float(simd_sum(i));
  x[i] += simd_max(uint(i > 2u)) != 0 ? 1.0f : 0.0f;
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
  x[i] += fast::exp(x[i]);
}
