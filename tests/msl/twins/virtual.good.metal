#include <metal_stdlib>
using namespace metal;

struct Shape {
  float side;
  float area() const { return side * side; }
};
struct Box {
  Shape base;
  float depth;
};
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  Box box = {{x[i]}, 2.0f};
  x[i] = box.base.area() * box.depth;
}
