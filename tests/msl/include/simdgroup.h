// Barriers and SIMD-group functions that every M-series GPU has: no shuffle_and_fill, which wants an M2.
#ifndef PAGEDRT_LINT_SIMDGROUP_H
#define PAGEDRT_LINT_SIMDGROUP_H

#include "types.h"

namespace metal {

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return mem_flags(int(a) | int(b));
}

void threadgroup_barrier(mem_flags);
void simdgroup_barrier(mem_flags);

#define SHUFFLES(type, ending)                         \
  type simd_shuffle(type, ushort) ending;              \
  type simd_shuffle_xor(type, ushort) ending;          \
  type simd_shuffle_up(type, ushort) ending;           \
  type simd_shuffle_down(type, ushort) ending;         \
  type simd_shuffle_rotate_up(type, ushort) ending;    \
  type simd_shuffle_rotate_down(type, ushort) ending;  \
  type simd_broadcast(type, ushort) ending;            \
  type simd_sum(type) ending;                          \
  type simd_min(type) ending;                          \
  type simd_max(type) ending;
#define OF_WIDTHS(type)   \
  SHUFFLES(type, )        \
  SHUFFLES(type##2, )     \
  SHUFFLES(type##3, )     \
  SHUFFLES(type##4, )
OF_WIDTHS(short)
OF_WIDTHS(ushort)
OF_WIDTHS(int)
OF_WIDTHS(uint)
OF_WIDTHS(half)
OF_WIDTHS(float)
// not bool, not 64 bits: split them
SHUFFLES(bool, = delete)
SHUFFLES(long, = delete)
SHUFFLES(ulong, = delete)
#undef OF_WIDTHS
#undef SHUFFLES

} // namespace metal

#endif
