// Sums of many tokens would drift, so a thread's outputs move on every few tiles: into threadgroup
// memory, each thread's own part of it, since registers are what limits the SIMD-groups in flight.
#ifndef PAGEDRT_SHADERS_SETTLED_H
#define PAGEDRT_SHADERS_SETTLED_H

#include "dialect.h"
#include "place.h"
#include "state.h"

// COMPENSATED: no drift however many tokens there are. Without, a thread may see some 1000 rows:
// enough for one block of the two-pass path.
template <int HEADS, int ELEMENTS, bool COMPENSATED>
struct Settled {
  enum : int { COUNT = HEADS * ELEMENTS };

  threadgroup float *own;
  uint stride; // from one of a thread's values to its next
  bool any;

  Settled(threadgroup float *shared, Place place)
      : own(shared + place.simdgroup * SIMD_WIDTH + place.lane), stride(place.simdgroups * SIMD_WIDTH), any(false) {}

  void add(thread float (&out)[HEADS][ELEMENTS]) {
    UNROLL
    for (int i = 0; i < COUNT; ++i) {
      float total = any ? own[i * stride] : 0.0f;
      if (COMPENSATED) {
        float lost = any ? own[(COUNT + i) * stride] : 0.0f;
        settle(total, lost, out[i / ELEMENTS][i % ELEMENTS]);
        own[(COUNT + i) * stride] = lost;
      } else {
        total += out[i / ELEMENTS][i % ELEMENTS];
      }
      own[i * stride] = total;
      out[i / ELEMENTS][i % ELEMENTS] = 0.0f;
    }
    any = true;
  }

  void scale(thread const float (&factors)[HEADS]) {
    if (any) {
      UNROLL
      for (int i = 0; i < COUNT; ++i) {
        own[i * stride] *= factors[i / ELEMENTS];
        if (COMPENSATED) {
          own[(COUNT + i) * stride] *= factors[i / ELEMENTS];
        }
      }
    }
  }

  // The whole: what has settled and what is in `out`.
  void read(thread const float (&out)[HEADS][ELEMENTS], thread float (&whole)[HEADS][ELEMENTS]) const {
    UNROLL
    for (int i = 0; i < COUNT; ++i) {
      const float lost = any && COMPENSATED ? own[(COUNT + i) * stride] : 0.0f;
      const float total = any ? own[i * stride] : 0.0f;
      whole[i / ELEMENTS][i % ELEMENTS] = total + (out[i / ELEMENTS][i % ELEMENTS] - lost);
    }
  }
};

#endif
