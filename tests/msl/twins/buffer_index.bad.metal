#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(31)]], // rejected: buffer index: x: buffer(31), expected 0 to 30
                  threadgroup float *shared [[threadgroup(31)]], // rejected: buffer index: shared
                  uint i [[thread_position_in_grid]]) {
  x[i] = shared[i];
}
