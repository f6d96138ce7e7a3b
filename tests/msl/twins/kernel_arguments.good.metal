#include <metal_stdlib>
using namespace metal;

struct Sizes {
  uint count;
  ulong bytes;
};
[[kernel]] void k(device float *x [[buffer(0)]], constant ulong &n [[buffer(1)]],
                  constant Sizes &sizes [[buffer(2)]], device const long *offsets [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
  x[i] = float(n + sizes.bytes) + float(offsets[i]);
}
