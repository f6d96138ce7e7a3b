#include <metal_stdlib>
using namespace metal;

[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  try { // rejected: language: try
    if (i > 8) {
      throw 1; // rejected: language: throw
    }
  } catch (...) {
    x[i] = 0.0f;
  }
}
