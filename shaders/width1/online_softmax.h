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
  float query[HEADS][L::ELEMENTS]; // in the order of Step, as outputs are
  // Since the last settling:
  float maximum[HEADS];
  Vector sum[HEADS]; // its lanes add up to the sum
  float out[HEADS][L::ELEMENTS];
  float settled_sum[HEADS];
  float lost_sum[HEADS];
  float settled_out[HEADS][L::ELEMENTS];
  float lost_out[HEADS][L::ELEMENTS];

  // Query heads past `heads` are zero: they are computed along and never stored.
  OnlineSoftmax(const T *queries, uint heads, int dim, float *, Place) : head_dim(dim) {
    for (int h = 0; h < HEADS; ++h) {
      maximum[h] = -INFINITY;
      sum[h] = Vector{};
      settled_sum[h] = lost_sum[h] = 0.0f;
      for (int e = 0; e < head_dim; ++e) {
        query[h][Step<T>::place_of(e, head_dim)] = uint(h) < heads ? float(queries[h * head_dim + e]) : 0.0f;
      }
      for (int e = 0; e < head_dim; ++e) {
        out[h][e] = settled_out[h][e] = lost_out[h][e] = 0.0f;
      }
    }
  }

  // Over a span's tiles; keys and values start at the KV head's first page. Returns the smallest index of a
  // bad page, else PAGEDRT_UNSET; no row of one is read.
  uint attend(const T *keys, const T *values, Pages pages, Span span, int, float scale, Place) {
    Tiles tiles(pages, span, uint(head_dim));
    for (int unsettled = 0; tiles.current().count > 0; tiles.next()) {
      step(keys, values, tiles.current(), tiles.ahead(), scale);
      unsettled += 1;
      if (unsettled == TILES_TO_SETTLE) {
        settle_all();
        unsettled = 0;
      }
    }
    return tiles.cursor.bad;
  }

  void step(const T *keys, const T *values, const Tile &tile, const Tile &later, float scale) {
    float scores[HEADS][TILE_DEPTH];
    tile_scores<T, D, HEADS>(query, Rows<T>(keys, tile, later, head_dim), tile.count, head_dim, scale, scores);
    for (int h = 0; h < HEADS; ++h) {
      make_room(h, scores[h]);
      const float reference = reference_of(maximum[h]);
      for (int i = 0; i < TILE_DEPTH; ++i) {
        scores[h][i] = fast::exp(scores[h][i] - reference);
      }
      for (int i = 0; i < TILE_DEPTH; i += VECTOR_FLOATS) {
        sum[h] += load_vector(&scores[h][i]);
      }
    }
    tile_values<T, D, HEADS>(scores, Rows<T>(values, tile, later, head_dim), tile.count, head_dim, out);
  }

  void make_room(int h, const float (&scores)[TILE_DEPTH]) {
    bool above = false;
    for (int i = 0; i < TILE_DEPTH; i += VECTOR_FLOATS) {
      above = above || any_above(load_vector(&scores[i]), maximum[h] + RAISE_MARGIN);
    }
    if (!above) {
      return;
    }
    float highest = maximum[h];
    for (float score : scores) {
      highest = score > highest ? score : highest;
    }
    const float factor = fast::exp(maximum[h] - reference_of(highest));
    sum[h] *= factor;
    settled_sum[h] *= factor;
    lost_sum[h] *= factor;
    for (int e = 0; e < head_dim; ++e) {
      out[h][e] *= factor;
      settled_out[h][e] *= factor;
      lost_out[h][e] *= factor;
    }
    maximum[h] = highest;
  }

  // Sums of many tokens would drift: every TILES_TO_SETTLE tiles they move on.
  void settle_all() {
    for (int h = 0; h < HEADS; ++h) {
      settle(settled_sum[h], lost_sum[h], Across<VECTOR_FLOATS / 2>::sum(sum[h]));
      sum[h] = Vector{};
      for (int e = 0; e < head_dim; ++e) {
        settle(settled_out[h][e], lost_out[h][e], out[h][e]);
        out[h][e] = 0.0f;
      }
    }
  }

  // After the last tile.
  void end(State<T, D, HEADS> &state) const {
    for (int h = 0; h < HEADS; ++h) {
      state.maximum[h] = maximum[h];
      state.sum[h] = settled_sum[h] + (Across<VECTOR_FLOATS / 2>::sum(sum[h]) - lost_sum[h]);
      for (int e = 0; e < head_dim; ++e) {
        const int from = Step<T>::place_of(e, head_dim);
        state.out[h][e] = settled_out[h][from] + (out[h][from] - lost_out[h][from]);
      }
    }
  }
};

#endif
