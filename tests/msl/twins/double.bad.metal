#include <metal_stdlib>
using namespace metal;

inline float half_of(float v) {
  return v * 0.5; // rejected: type: double
}
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  double sum = x[i]; // rejected: type: double
  x[i] = float(sum); // rejected: type: double
  long long wide = 1; // rejected: type: long long
  x[i] += half_of(float(wide)); // rejected: type: long long
}
