#include <metal_stdlib>
using namespace metal;

constant float factors[2] = {1.0f, 2.0f};
template <typename T>
inline void clear(thread T &v) {
  v = T(0);
}
template <typename T>
inline void clear(device T &v) {
  v = T(0);
}
inline float first(device const float *v) {
  return v[0];
}
inline float first(thread const float *v) {
  return v[0];
}
[[kernel]] void k(device float *x [[buffer(0)]], constant float &scale [[buffer(1)]],
                  threadgroup float *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  float own[2] = {scale, factors[0]};
  threadgroup float *a = shared;
  device float *b = x;
  thread float *c = own;
  clear(x[i]);
  clear(own[1]);
  x[i] = first(own) + first(x);
  x[i] += a[0] + b[0] + c[0];
}
