#include <metal_stdlib>
using namespace metal;

inline float twice(float v) {
  return 2.0f * v;
}
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = twice(x[i]);
}
