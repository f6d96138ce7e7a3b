#include <metal_stdlib>
using namespace metal;

inline float twice(float v) {
  return 2.0f * v;
}
typedef float (*Function)(float); // rejected: pointers to functions are not allowed
struct Holder {
  float (Holder::*member)(float); // rejected: function pointer
};
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float (*f)(float) = twice; // rejected: function pointer
  float (&r)(float) = twice; // rejected: function pointer
  x[i] = f(x[i]) + r(x[i]);
}
