#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  thread float *v = new float[4]; // rejected: language: new
  x[i] = v[0];
  delete[] v; // rejected: language: delete
}
