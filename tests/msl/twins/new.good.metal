#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float v[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  x[i] = v[0];
}
