#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float a[4096];
  threadgroup float4 b[1024];
  a[i] = x[i];
  x[i] = a[i] + b[0].x;
}
template <int N>
[[kernel]] void sized(device float *x [[buffer(0)]], threadgroup float *a [[threadgroup(0)]],
                      uint i [[thread_position_in_grid]]) {
  a[i] = x[i] + float(N);
}
template [[host_name("sized")]] [[kernel]] decltype(sized<64>) sized<64>;
