#include <metal_stdlib>
using namespace metal;

struct View {
  float *values; // rejected: address space: values
};
typedef float *Floats; // rejected: address space: Floats
inline float first(float *v) { // rejected: address space: v
  return v[0];
}
template <typename T>
inline T last(const T (&v)[4]) { // rejected: address space: v
  return v[3];
}
inline thread float *same(thread float *v) {
  return v;
}
inline float *unnamed(thread float *v) { // rejected: address space: unnamed
  return v;
}
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float v[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  float *p = v; // rejected: address space: p
  const uint bits = *(uint *)p; // rejected: address space: a pointer
  x[i] = first(v) + last(v) + float(bits) + *same(v) + *unnamed(v);
}
