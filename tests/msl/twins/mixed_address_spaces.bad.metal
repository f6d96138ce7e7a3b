#include <metal_stdlib>
using namespace metal;

constant float factors[2] = {1.0f, 2.0f};
float variable = 1.0f; // rejected: program scope variable must reside in constant address space
template <typename T>
inline void clear(thread T &v) {
  v = T(0);
}
inline float first(device const float *v) {
  return v[0];
}
[[kernel]] void k(device float *x [[buffer(0)]], constant float &scale [[buffer(1)]],
                  threadgroup float *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  float own[2] = {scale, factors[0]};
  device float *a = shared; // rejected: cannot initialize a variable of type
  threadgroup float *b = x; // rejected: cannot initialize a variable of type
  thread float *c = x; // rejected: cannot initialize a variable of type
  device float *d = (device float *)shared; // rejected: converts between mismatching address spaces
  clear(x[i]); // rejected: no matching function for call to 'clear'
  x[i] = first(own); // rejected: no matching function for call to 'first'
  scale = 1.0f; // rejected: cannot assign to variable 'scale'
  x[i] += a[0] + b[0] + c[0] + d[0];
}
