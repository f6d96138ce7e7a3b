#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[threadgroup(0)]], // rejected: attribute: x: expected [[buffer(n)]]
                  threadgroup float *shared, // rejected: attribute: shared: expected [[threadgroup(n)]]
                  float i [[thread_position_in_grid]], // rejected: attribute: i: float for thread_position_in_grid
                  uint2 lane [[thread_index_in_simdgroup]], // rejected: attribute: lane: uint2
                  uint width [[simd_width]], // rejected: attribute: width: [[simd_width]] is none of MSL's
                  uint bare) { // rejected: attribute: bare
  x[0] = shared[0] + i + float(lane.x + width + bare);
}
