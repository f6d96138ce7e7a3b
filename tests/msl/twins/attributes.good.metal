#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], threadgroup float *shared [[threadgroup(0)]],
                  uint2 i [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]],
                  uint width [[threads_per_simdgroup]]) {
  x[i.x] = shared[0] + float(lane + width);
}
