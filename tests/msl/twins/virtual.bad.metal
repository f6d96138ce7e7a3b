#include <metal_stdlib>
using namespace metal;

struct Shape {
  float side;
  virtual float area() const { return side * side; } // rejected: language: virtual
};
struct Box : Shape { // rejected: language: base class
  float depth;
};
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = 1.0f;
}
