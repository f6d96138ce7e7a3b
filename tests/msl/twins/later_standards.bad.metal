#include <metal_stdlib>
using namespace metal;

template <typename T>
inline float widened(T v) {
  if constexpr (sizeof(T) == 2) { // rejected: constexpr if is a C++17 extension
    return float(v) * 2.0f;
  }
  return float(v);
}
template <typename... T>
inline float total(T... v) {
  return (v + ...); // rejected: pack fold expression is a C++17 extension
}
namespace outer::inner { // rejected: nested namespace definition is a C++17 extension
}
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = widened(x[i]) + total(1.0f, x[i]);
}
