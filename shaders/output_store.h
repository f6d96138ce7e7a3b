// Where finished heads go: normalised and rounded once.
#ifndef PAGEDRT_SHADERS_OUTPUT_STORE_H
#define PAGEDRT_SHADERS_OUTPUT_STORE_H

#include "state.h"

template <typename T>
struct OutputStore {
  device T *out; // [query_heads, head_dim]
  uint head_dim;
  uint first;

  void element(int h, int at, float value, float sum) const {
    out[ulong(first + uint(h)) * head_dim + uint(at)] = T(normalised(value, sum));
  }
  void head(int, float, float) const {}
};

#endif
