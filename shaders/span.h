// The tokens of one block, and whether they may be read.
#ifndef PAGEDRT_SHADERS_SPAN_H
#define PAGEDRT_SHADERS_SPAN_H

#include "arguments.h"
#include "dialect.h"
#include "place.h"

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
  // block * size stays below tokens + blocks * grain, far from 2^32 for any legal table
  span.begin = min(block * size, tokens);
  span.end = min(span.begin + size, tokens);
  return span;
}

// The same answer in every thread: may the span be read? What is wrong is noted for the host.
inline bool span_is_legal(Span span, uint tokens, device const uint *page_table, constant pagedrt_arguments &args,
                          device atomic_uint *status, threadgroup float *shared, Place place) {
  uint bad = PAGEDRT_UNSET;
  const bool known = tokens <= args.context_tokens;
  if (known && span.begin < span.end) {
    const uint last = (span.end - 1) / args.page_size;
    const uint stride = place.simdgroups * SIMD_WIDTH;
    for (uint i = span.begin / args.page_size + place.simdgroup * SIMD_WIDTH + place.lane; i <= last; i += stride) {
      if (page_table[i] >= args.page_capacity) {
        bad = min(bad, i);
      }
    }
    bad = simd_min(bad);
    if (place.simdgroups > 1) {
      threadgroup uint *found = reinterpret_cast<threadgroup uint *>(shared);
      if (place.lane == 0) {
        found[place.simdgroup] = bad;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint s = 0; s < place.simdgroups; ++s) {
        bad = min(bad, found[s]);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
  if (place.simdgroup == 0 && place.lane == 0) {
    device atomic_uint *slot = status + 2 * args.status;
    if (bad != PAGEDRT_UNSET) {
      atomic_fetch_min_explicit(slot, bad, memory_order_relaxed);
    }
    if (!known) {
      atomic_fetch_min_explicit(slot + 1, 0u, memory_order_relaxed);
    }
  }
  return known && bad == PAGEDRT_UNSET;
}

#endif
