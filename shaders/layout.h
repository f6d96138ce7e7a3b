// How a SIMD-group lays K/V rows over its lanes: LANES lanes share a row, ROWS rows are read at a time.
#ifndef PAGEDRT_SHADERS_LAYOUT_H
#define PAGEDRT_SHADERS_LAYOUT_H

#include "arguments.h"
#include "dialect.h"
#include "instances.h"

// A lane reads CHUNK neighbouring elements at a time, CHUNKS times a row: 16 bytes where the row's
// length is a power of two, else what keeps few elements in a lane.
template <typename T, int D>
struct Layout {
  enum : int {
    LANES = PAGEDRT_ROW_LANES(D, int(sizeof(T))),
    ROWS = SIMD_WIDTH / LANES,
    ELEMENTS = D / LANES,
    POWER = ELEMENTS & -ELEMENTS,
    MOST = 16 / int(sizeof(T)),
    CHUNK = POWER < MOST ? POWER : MOST,
    CHUNKS = ELEMENTS / CHUNK
  };
};

// Any head_dim: a row is 16-byte aligned only by luck, so lanes read single elements. A thread that
// owns whole rows has one vector more than it needs: a power of two would set them against each
// other in the cache.
template <typename T>
struct Layout<T, 0> {
  enum : int {
    CHUNK = 1,
    LANES = SIMD_WIDTH,
    ROWS = 1,
    CHUNKS = PAGEDRT_MAX_HEAD_DIM / SIMD_WIDTH,
    ELEMENTS = SIMD_WIDTH == 1 ? CHUNKS + 16 : CHUNKS
  };
};

// Only lanes that share a row gain from knowing its length: one thread loops over it.
#define COMPILED_HEAD_DIM(D) (SIMD_WIDTH == 1 ? 0 : D)

// Which element of a row a lane's index-th value is.
template <typename T, int D>
inline int element_of(uint lane, int index) {
  using L = Layout<T, D>;
  if (L::LANES == 1) {
    return index;
  }
  return (index / L::CHUNK * L::LANES + int(lane) % L::LANES) * L::CHUNK + index % L::CHUNK;
}

// How many of a lane's values a loop visits: all, so that they stay in registers, but for a whole
// row of any head_dim in one thread.
template <typename T, int D>
inline int elements_used(int head_dim) {
  return SIMD_WIDTH == 1 && D == 0 ? head_dim : int(Layout<T, D>::ELEMENTS);
}

#endif
