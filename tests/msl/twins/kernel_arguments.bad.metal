#include <metal_stdlib>
using namespace metal;

struct Sizes {
  uint count;
  size_t bytes;
};
[[kernel]] void k(device float *x [[buffer(0)]],
                  constant size_t &n [[buffer(1)]], // rejected: kernel argument: n: size_t
                  constant Sizes &sizes [[buffer(2)]], // rejected: kernel argument: sizes: size_t
                  device const ptrdiff_t *offsets [[buffer(3)]], // rejected: kernel argument: offsets: size_t
                  thread float *own [[buffer(4)]], // rejected: kernel argument: own: a kernel's pointers
                  uint i [[thread_position_in_grid]]) {
  x[i] = float(n + sizes.bytes) + float(offsets[i]) + own[0];
}
