#include <metal_stdlib>
using namespace metal;

struct View {
  thread float *values;
};
typedef thread float *Floats;
inline float first(thread float *v) {
  return v[0];
}
template <typename T>
inline T last(thread const T (&v)[4]) {
  return v[3];
}
inline thread float *same(thread float *v) {
  return v;
}
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float v[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  Floats p = v;
  const uint bits = *(thread uint *)p;
  x[i] = first(v) + last(v) + float(bits) + *same(v);
}
