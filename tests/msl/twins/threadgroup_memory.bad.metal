#include <metal_stdlib>
using namespace metal;

template <int N>
inline float helper(float v) {
  threadgroup float own[N]; // rejected: threadgroup memory: own: threadgroup variables stand in kernels alone
  own[0] = v;
  return own[0];
}
[[kernel]] void k(device float *x [[buffer(0)]], // rejected: threadgroup memory: k: 32784 bytes
                  uint i [[thread_position_in_grid]]) {
  threadgroup float a[4096];
  threadgroup float4 b[1025];
  a[i] = x[i];
  x[i] = a[i] + b[0].x + helper<8>(x[i]);
}
template <int N>
[[kernel]] void sized(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float a[N]; // rejected: threadgroup memory: a: its size depends
  a[i] = x[i];
}
template [[host_name("sized")]] [[kernel]] decltype(sized<64>) sized<64>;
