// How vectors are taken from a row: bfloat16's in pairs, even elements and odd ones, which a shift and a mask
// make float32; nothing has to move between lanes. Queries and outputs then lie in that order too.
#ifndef PAGEDRT_SHADERS_WIDTH1_STEP_H
#define PAGEDRT_SHADERS_WIDTH1_STEP_H

#include "vector.h"

struct InOrder {
  enum : int { VECTORS = 1 };
  template <typename T>
  ALWAYS_INLINE void load(const T *from, Vector *to) {
    to[0] = load_vector(from);
  }
  // What load did, undone.
  ALWAYS_INLINE void unload(const float *from, float *to) { store_vector(to, load_vector(from)); }
};

template <typename T>
struct Step : InOrder {};

template <>
struct Step<bfloat> {
  enum : int { VECTORS = 2 };

  ALWAYS_INLINE void load(const bfloat *from, Vector *to) {
    const Bits words = *reinterpret_cast<const BitsAnywhere *>(from);
    to[0] = (Vector)(words << 16);
    to[1] = (Vector)(words & 0xFFFF0000u);
  }

  ALWAYS_INLINE void unload(const float *from, float *to) {
    const Vector even = load_vector(from), odd = load_vector(from + VECTOR_FLOATS);
    store_vector(to, interleaved<0>(even, odd));
    store_vector(to + VECTOR_FLOATS, interleaved<VECTOR_FLOATS / 2>(even, odd));
  }
};

// A row as floats, in the order in which vectors are taken from it; what makes no whole step stays in order.
template <typename T>
inline void load_row(const T *from, int head_dim, float *to) {
  using S = Step<T>;
  enum : int { STEP = S::VECTORS * VECTOR_FLOATS };
  int d = 0;
  for (; d + STEP <= head_dim; d += STEP) {
    Vector taken[S::VECTORS];
    S::load(from + d, taken);
    for (int c = 0; c < S::VECTORS; ++c) {
      store_vector(to + d + c * VECTOR_FLOATS, taken[c]);
    }
  }
  for (; d < head_dim; ++d) {
    to[d] = float(from[d]);
  }
}

inline void clear_row(float *row, int head_dim) {
  for (int d = 0; d < head_dim; ++d) {
    row[d] = 0.0f;
  }
}

// Back to the row's own order.
template <typename T>
inline void unload_row(const float *from, int head_dim, float *to) {
  using S = Step<T>;
  enum : int { STEP = S::VECTORS * VECTOR_FLOATS };
  int d = 0;
  for (; d + STEP <= head_dim; d += STEP) {
    S::unload(from + d, to + d);
  }
  for (; d < head_dim; ++d) {
    to[d] = from[d];
  }
}

#endif
