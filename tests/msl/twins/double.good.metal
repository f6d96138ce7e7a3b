#include <metal_stdlib>
using namespace metal;

inline float half_of(float v) {
  return v * 0.5f;
}
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float sum = x[i];
  x[i] = sum;
  long wide = 1;
  x[i] += half_of(float(wide));
}
