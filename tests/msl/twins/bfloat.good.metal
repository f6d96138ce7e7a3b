#include <metal_stdlib>
using namespace metal;

template <typename T>
inline T dot(thread const T (&a)[2], thread const T (&b)[2]) {
  return T(float(a[0]) * float(b[0]));
}
[[kernel]] void k(device bfloat *x [[buffer(0)]], device half *h [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  const bfloat a[2] = {x[0], x[1]};
  x[i] = dot(a, a);
  x[i] = bfloat(float(x[i]) + 1.0f);
  const float wide = float(x[i]);
  h[i] = half(wide);
  x[i] = bfloat(exp(wide));
}
