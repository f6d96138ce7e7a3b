#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], device atomic_uint *count [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  x[i] = simd_shuffle_and_fill_down(x[i], 0.0f, ushort(1)); // rejected: 'simd_shuffle_and_fill_down'
  x[i] += float(simd_sum(ulong(i))); // rejected: call to deleted function 'simd_sum'
  x[i] += simd_max(i > 2u) ? 1.0f : 0.0f; // rejected: call to deleted function 'simd_max'
  atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed); // rejected: 'atomic_thread_fence'
  atomic_fetch_add_explicit(count, 1u, memory_order_seq_cst); // rejected: 'memory_order_seq_cst'
  x[i] += metal::lgamma(x[i]); // rejected: no member named 'lgamma' in namespace 'metal'
}
