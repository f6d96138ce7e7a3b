#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(30)]], threadgroup float *shared [[threadgroup(30)]],
                  uint i [[thread_position_in_grid]]) {
  x[i] = shared[i];
}
