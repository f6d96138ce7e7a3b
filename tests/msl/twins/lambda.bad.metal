#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const auto twice = [](float v) { return 2.0f * v; }; // rejected: language: lambda
  x[i] = twice(x[i]);
}
