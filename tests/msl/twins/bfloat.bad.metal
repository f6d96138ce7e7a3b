#include <metal_stdlib>
using namespace metal;

template <typename T>
inline T dot(thread const T (&a)[2], thread const T (&b)[2]) {
  return a[0] * b[0]; // rejected: invalid operands to binary expression ('const bfloat' and 'const bfloat')
}
[[kernel]] void k(device bfloat *x [[buffer(0)]], device half *h [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  const bfloat a[2] = {x[0], x[1]};
  x[i] = dot(a, a);
  x[i] += x[i]; // rejected: invalid operands
  x[i] = 1.0f; // rejected: from incompatible type 'float'
  const float wide = x[i]; // rejected: cannot initialize a variable of type 'const float'
  h[i] = x[i]; // rejected: from incompatible type
  x[i] = bfloat(exp(x[i])); // rejected: no matching function for call to 'exp'
  x[i] = bfloat(wide);
}
