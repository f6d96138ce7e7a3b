// What the one-pass and partial kernels share: one threadgroup attends from HEADS query heads of one
// KV head over a span of tokens, its SIMD-groups taking turns at tiles, and merges their states.
#ifndef PAGEDRT_SHADERS_ATTEND_H
#define PAGEDRT_SHADERS_ATTEND_H

#include "finish.h"
#include "heads.h"
#include "span.h"
#include "state.h"
#include "verdict.h"
#if SIMD_WIDTH != 1
#include "online_softmax_lanes.h"
#endif

// The whole of a one-pass or partial kernel, for HEADS query heads at once.
template <typename T, int D, int HEADS, bool COMPENSATED, typename Store>
inline void attend_and_store(device const T *queries, device const T *key_pages, device const T *value_pages,
                             device const uint *page_table, device const uint *dependency,
                             device atomic_uint *status, constant pagedrt_arguments &args,
                             threadgroup float *shared, uint3 group, Place place, thread Store &store) {
  const int head_dim = D == 0 ? int(args.head_dim) : D;
  const uint tokens = dependency[0];
  if (tokens > args.context_tokens) { // the same in every thread
    if (place.simdgroup == 0 && place.lane == 0) {
      note_bad_dependency(status, args.status);
    }
  } else {
    const Span span = span_of(tokens, group.y, args.blocks);
    const Pages pages = {page_table, args.page_size, args.page_capacity};
    const Heads heads = heads_of(group.x, HEADS, args);
    const ulong arena = ulong(heads.kv_head) * args.page_capacity * args.page_size * uint(head_dim);
    OnlineSoftmax<T, D, HEADS, COMPENSATED> softmax(queries + ulong(heads.first) * uint(head_dim), heads.count,
                                                    head_dim, shared, place);
    const uint bad = simd_min(
        softmax.attend(key_pages + arena, value_pages + arena, pages, span, head_dim, args.scale, place));
    if (place.lane == 0) {
      note_bad_page(status, args.status, bad);
    }
    State<T, D, HEADS> state;
    softmax.end(state);
    store.first = heads.first;
    finish<T, D, HEADS>(state, bad == PAGEDRT_UNSET, heads.count, head_dim, shared, place, store);
  }
}

// HEADS is a template argument, so that states stay in registers; the function constant picks it.
template <typename T, int D, bool COMPENSATED, typename Store>
inline void attend_for_heads(device const T *queries, device const T *key_pages, device const T *value_pages,
                             device const uint *page_table, device const uint *dependency,
                             device atomic_uint *status, constant pagedrt_arguments &args,
                             threadgroup float *shared, uint3 group, Place place, thread Store &store) {
#define ATTEND(HEADS)                                                                                          \
  attend_and_store<T, D, HEADS, COMPENSATED>(queries, key_pages, value_pages, page_table, dependency, status, args, \
                                             shared, group, place, store)
  if (heads_per_simdgroup == 1) {
    ATTEND(1);
  } else if (heads_per_simdgroup == 2) {
    ATTEND(2);
  } else if (heads_per_simdgroup == 4) {
    ATTEND(4);
  } else {
    ATTEND(8);
  }
#undef ATTEND
}

#endif
