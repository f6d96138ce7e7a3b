#include <metal_stdlib>
using namespace metal;

template <typename T>
inline float widened(T v) {
  if (sizeof(T) == 2) {
    return float(v) * 2.0f;
  }
  return float(v);
}
inline float total(float a, float b) {
  return a + b;
}
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = widened(x[i]) + total(1.0f, x[i]);
}
