// The tokens of one block.
#ifndef PAGEDRT_SHADERS_SPAN_H
#define PAGEDRT_SHADERS_SPAN_H

#include "dialect.h"

// Blocks start at multiples of it, so that a tile crosses no more pages than it must.
#define SPAN_GRAIN 16u

struct Span {
  uint begin;
  uint end;
};

// Block `block` of `blocks` nearly equal ones.
inline Span span_of(uint tokens, uint block, uint blocks) {
  const uint share = (tokens + blocks - 1) / blocks;
  const uint size = (share + SPAN_GRAIN - 1) / SPAN_GRAIN * SPAN_GRAIN;
  Span span;
  // below tokens + blocks * (grain + 1), so below 2^32: see PAGEDRT_MAX_TOKENS
  span.begin = min(block * size, tokens);
  span.end = min(span.begin + size, tokens);
  return span;
}

#endif
