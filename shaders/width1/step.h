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
};

template <typename T>
struct Step : InOrder {
  static int place_of(int element, int) { return element; }
};

template <>
struct Step<bfloat> {
  enum : int { VECTORS = 2, SPAN = 2 * VECTOR_FLOATS };

  ALWAYS_INLINE void load(const bfloat *from, Vector *to) {
    const Bits words = *reinterpret_cast<const BitsAnywhere *>(from);
    to[0] = (Vector)(words << 16);
    to[1] = (Vector)(words & 0xFFFF0000u);
  }

  // Where an element lies in a row of head_dim; what makes no whole pair stays in order.
  static int place_of(int element, int head_dim) {
    const int begin = element / SPAN * SPAN, within = element % SPAN;
    return begin + SPAN > head_dim ? element : begin + within % 2 * VECTOR_FLOATS + within / 2;
  }
};

#endif
