// What the one-pass and partial kernels share: one threadgroup attends from HEADS query heads of one
// KV head over a span of tokens, its SIMD-groups taking turns at tiles, and merges their states.
#ifndef PAGEDRT_SHADERS_ATTEND_H
#define PAGEDRT_SHADERS_ATTEND_H

#include "cursor.h"
#include "finish.h"
#include "heads.h"
#include "span.h"
#include "state.h"
#ifndef TILE_DEPTH
#include "tile_lanes.h"
#endif

template <typename T, int D, int HEADS>
struct Attention {
  using L = Layout<T, D>;

  float query[HEADS][L::ELEMENTS];
  State<T, D, HEADS> state;
  int head_dim;
  uint lane;

  // Query heads past `heads` are zero: they are computed along and never stored.
  void start(device const T *queries, uint heads, int dim, uint own_lane) {
    head_dim = dim;
    lane = own_lane;
    for (int h = 0; h < HEADS; ++h) {
      for (int e = 0; e < elements_used<T, D>(dim); ++e) {
        const int at = element_of<T, D>(own_lane, e);
        query[h][e] = uint(h) < heads && at < dim ? float(queries[h * dim + at]) : 0.0f;
      }
    }
    state.clear(dim);
  }

  // Leaves the cursor at this SIMD-group's next tile.
  void locate(thread Cursor &cursor, device const uint *page_table, int count, uint simdgroups, thread Tile &tile) {
    tile.count = count;
    for (int i = 0; i < TILE_DEPTH; ++i) {
      if (i < count) {
        tile.offsets[i] = cursor.row(page_table) * uint(head_dim);
      }
      cursor.advance(L::ROWS);
    }
    cursor.advance(L::ROWS * TILE_DEPTH * (simdgroups - 1));
  }

  // How many of this lane's rows of the tile at `token` are in the span.
  int rows_left(uint token, uint end) const {
    const uint first = token + lane / L::LANES;
    const uint left = first < end ? (end - first + L::ROWS - 1) / L::ROWS : 0;
    return int(min(left, uint(TILE_DEPTH)));
  }

  void step(device const T *keys, device const T *values, thread const Tile &tile, thread const Tile &next,
            float scale) {
    float scores[HEADS][TILE_DEPTH];
    float highest[HEADS];
    tile_scores<T, D, HEADS>(query, keys, tile, next, head_dim, scale, lane, scores, highest);
    for (int h = 0; h < HEADS; ++h) {
      const float reference = state.raise(h, highest[h], head_dim);
      for (int i = 0; i < TILE_DEPTH; ++i) {
        scores[h][i] = fast::exp(scores[h][i] - reference);
      }
    }
    tile_values<T, D, HEADS>(scores, values, tile, next, head_dim, lane, state.sum, state.out);
  }

  // keys and values start at the KV head's first page. Tiles are found ahead of their use.
  void attend(device const T *keys, device const T *values, device const uint *page_table, Span span, float scale,
              uint page_size, Place place) {
    const uint stride = L::ROWS * TILE_DEPTH * place.simdgroups;
    uint token = span.begin + place.simdgroup * L::ROWS * TILE_DEPTH;
    Cursor cursor(token + lane / L::LANES, page_size);
    Tile tiles[TILES_AHEAD + 1]; // the current one, then those that follow
    for (int t = 0; t <= TILES_AHEAD; ++t) {
      for (int i = 0; i < TILE_DEPTH; ++i) {
        tiles[t].offsets[i] = 0;
      }
    }
    uint located = token;
    for (int t = 1; t <= TILES_AHEAD; ++t) {
      locate(cursor, page_table, rows_left(located, span.end), place.simdgroups, tiles[t]);
      located += stride;
    }
    int unsettled = 0;
    for (; token < span.end; token += stride) {
      for (int t = 0; t < TILES_AHEAD; ++t) {
        tiles[t] = tiles[t + 1];
      }
      locate(cursor, page_table, rows_left(located, span.end), place.simdgroups, tiles[TILES_AHEAD]);
      located += stride;
      step(keys, values, tiles[0], tiles[TILES_AHEAD], scale);
      unsettled += 1;
      if (unsettled == TILES_TO_SETTLE) {
        state.settle_all(head_dim);
        unsettled = 0;
      }
    }
    state.end(head_dim);
    state.merge_rows();
  }
};

// The whole of a one-pass or partial kernel, for HEADS query heads at once.
template <typename T, int D, int HEADS, typename Store>
inline void attend_and_store(device const T *queries, device const T *key_pages, device const T *value_pages,
                             device const uint *page_table, device const uint *dependency,
                             device atomic_uint *status, constant pagedrt_arguments &args,
                             threadgroup float *shared, uint3 group, Place place, thread Store &store) {
  const int head_dim = D == 0 ? int(args.head_dim) : D;
  const uint tokens = dependency[0];
  const Span span = span_of(min(tokens, args.context_tokens), group.y, args.blocks);
  const bool legal = span_is_legal(span, tokens, page_table, args, status, shared, place);
  if (legal) {
    const Heads heads = heads_of(group.x, HEADS, args);
    const ulong arena = ulong(heads.kv_head) * args.page_capacity * args.page_size * uint(head_dim);
    Attention<T, D, HEADS> attention;
    attention.start(queries + ulong(heads.first) * uint(head_dim), heads.count, head_dim, place.lane);
    attention.attend(key_pages + arena, value_pages + arena, page_table, span, args.scale, args.page_size, place);
    store.first = heads.first;
    finish<T, D, HEADS>(attention.state, heads.count, head_dim, shared, place, store);
  }
}

// HEADS is a template argument, so that states stay in registers; the function constant picks it.
template <typename T, int D, typename Store>
inline void attend_for_heads(device const T *queries, device const T *key_pages, device const T *value_pages,
                             device const uint *page_table, device const uint *dependency,
                             device atomic_uint *status, constant pagedrt_arguments &args,
                             threadgroup float *shared, uint3 group, Place place, thread Store &store) {
#define ATTEND(HEADS)                                                                                          \
  attend_and_store<T, D, HEADS>(queries, key_pages, value_pages, page_table, dependency, status, args, shared, \
                                group, place, store)
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
