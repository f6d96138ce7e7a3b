// The online softmax of one thread that owns whole rows: what online_softmax_lanes.h is to many lanes.
#ifndef PAGEDRT_SHADERS_WIDTH1_ONLINE_SOFTMAX_H
#define PAGEDRT_SHADERS_WIDTH1_ONLINE_SOFTMAX_H

#include "place.h"
#include "span.h"
#include "state.h"
#include "tile_vector.h"

#define TILES_TO_SETTLE 16

// Always compensated: the arrays lie in the first cache and are rarely touched.
template <typename T, int D, int HEADS, bool>
struct OnlineSoftmax {
  using L = Layout<T, D>;

  int head_dim;
  float query[HEADS][L::ELEMENTS];
  State<T, D, HEADS> now; // since the last settling
  float settled_sum[HEADS];
  float lost_sum[HEADS];
  float settled_out[HEADS][L::ELEMENTS];
  float lost_out[HEADS][L::ELEMENTS];

  // Query heads past `heads` are zero: they are computed along and never stored.
  OnlineSoftmax(const T *queries, uint heads, int dim, float *, Place) : head_dim(dim) {
    for (int h = 0; h < HEADS; ++h) {
      now.maximum[h] = -INFINITY;
      now.sum[h] = settled_sum[h] = lost_sum[h] = 0.0f;
      for (int e = 0; e < head_dim; ++e) {
        query[h][e] = uint(h) < heads ? float(queries[h * head_dim + e]) : 0.0f;
        now.out[h][e] = settled_out[h][e] = lost_out[h][e] = 0.0f;
      }
    }
  }

  // Over a span's tiles; keys and values start at the KV head's first page. Returns the smallest index of a
  // bad page, else PAGEDRT_UNSET; no row of one is read.
  uint attend(const T *keys, const T *values, Pages pages, Span span, int, float scale, Place) {
    Tiles tiles(pages, span, uint(head_dim));
    for (int unsettled = 0; tiles.ahead[0].count > 0; tiles.next()) {
      step(keys, values, tiles.ahead[0], tiles.ahead[TILES_AHEAD], scale);
      unsettled += 1;
      if (unsettled == TILES_TO_SETTLE) {
        settle_all();
        unsettled = 0;
      }
    }
    return tiles.cursor.bad;
  }

  void step(const T *keys, const T *values, const Tile &tile, const Tile &next, float scale) {
    float scores[HEADS][TILE_DEPTH];
    float highest[HEADS];
    tile_scores<T, D, HEADS>(query, keys, tile, next, head_dim, scale, scores, highest);
    for (int h = 0; h < HEADS; ++h) {
      raise(h, highest[h]);
      const float reference = reference_of(now.maximum[h]);
      for (int i = 0; i < TILE_DEPTH; ++i) {
        scores[h][i] = fast::exp(scores[h][i] - reference);
      }
    }
    tile_values<T, D, HEADS>(scores, values, tile, next, head_dim, now.sum, now.out);
  }

  // Makes room for scores up to `highest`.
  void raise(int h, float highest) {
    if (highest > now.maximum[h] + RAISE_MARGIN) {
      const float factor = fast::exp(now.maximum[h] - reference_of(highest));
      now.sum[h] *= factor;
      settled_sum[h] *= factor;
      lost_sum[h] *= factor;
      for (int e = 0; e < head_dim; ++e) {
        now.out[h][e] *= factor;
        settled_out[h][e] *= factor;
        lost_out[h][e] *= factor;
      }
      now.maximum[h] = highest;
    }
  }

  // Sums of many tokens would drift: every TILES_TO_SETTLE tiles they move on.
  void settle_all() {
    for (int h = 0; h < HEADS; ++h) {
      settle(settled_sum[h], lost_sum[h], now.sum[h]);
      now.sum[h] = 0.0f;
      for (int e = 0; e < head_dim; ++e) {
        settle(settled_out[h][e], lost_out[h][e], now.out[h][e]);
        now.out[h][e] = 0.0f;
      }
    }
  }

  // After the last tile.
  void end(State<T, D, HEADS> &state) const {
    for (int h = 0; h < HEADS; ++h) {
      state.maximum[h] = now.maximum[h];
      state.sum[h] = settled_sum[h] + (now.sum[h] - lost_sum[h]);
      for (int e = 0; e < head_dim; ++e) {
        state.out[h][e] = settled_out[h][e] + (now.out[h][e] - lost_out[h][e]);
      }
    }
  }
};

#endif
