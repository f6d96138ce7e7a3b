// The online softmax of one thread that owns whole rows: what online_softmax_lanes.h is to many lanes.
#ifndef PAGEDRT_SHADERS_WIDTH1_ONLINE_SOFTMAX_H
#define PAGEDRT_SHADERS_WIDTH1_ONLINE_SOFTMAX_H

#include "exponential.h"
#include "place.h"
#include "span.h"
#include "state.h"
#include "queries.h"

#define TILES_TO_SETTLE 16

// Always compensated: the arrays lie in the first cache and are rarely touched.
template <typename T, int D, int HEADS, bool>
struct OnlineSoftmax {
  using L = Layout<T, D>;

  Queries<T, D, HEADS> queries;
  // Since the last settling, rows in the order of Step:
  alignas(Vector) float out[HEADS][L::ELEMENTS];
  Vector sum[HEADS]; // its lanes add up to the sum
  float maximum[HEADS];
  int head_dim;
  bool settled; // else what follows holds nothing yet
  float settled_sum[HEADS];
  float lost_sum[HEADS];
  alignas(Vector) float settled_out[HEADS][L::ELEMENTS];
  alignas(Vector) float lost_out[HEADS][L::ELEMENTS];

  OnlineSoftmax(const T *rows, uint heads, int dim, float *, Place)
      : queries(rows, heads, dim), head_dim(dim), settled(false) {
    for (int h = 0; h < HEADS; ++h) {
      maximum[h] = NOTHING_SEEN;
      sum[h] = Vector{};
      clear_row(out[h], head_dim);
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
    alignas(Vector) float scores[HEADS][TILE_DEPTH];
    queries.score(Rows<T>(keys, tile, later, head_dim), tile.count, head_dim, scale, scores);
    for (int h = 0; h < HEADS; ++h) {
      make_room(h, scores[h]);
      for (int i = 0; i < TILE_DEPTH; i += VECTOR_FLOATS) {
        const Vector weights = exponential(load_vector(&scores[h][i]) - maximum[h]);
        store_vector(&scores[h][i], weights);
        sum[h] += weights;
      }
    }
    tile_values<T, D, HEADS>(scores, Rows<T>(values, tile, later, head_dim), tile.count, head_dim, out);
  }

  void make_room(int h, const float (&scores)[TILE_DEPTH]) {
    bool above = false;
    Vector highest = Vector{} + maximum[h];
    for (int i = 0; i < TILE_DEPTH; i += VECTOR_FLOATS) {
      const Vector some = load_vector(&scores[i]);
      above = above || any_above(some, maximum[h] + RAISE_MARGIN);
      highest = some > highest ? some : highest;
    }
    if (!above) {
      return;
    }
    const float raised = Across<VECTOR_FLOATS / 2>::highest(highest);
    if (maximum[h] != NOTHING_SEEN) { // else nothing was weighed yet
      rescale(h, fast::exp(maximum[h] - raised));
    }
    maximum[h] = raised;
  }

  void rescale(int h, float factor) {
    sum[h] *= factor;
    for (int e = 0; e < head_dim; ++e) {
      out[h][e] *= factor;
    }
    if (!settled) {
      return;
    }
    settled_sum[h] *= factor;
    lost_sum[h] *= factor;
    for (int e = 0; e < head_dim; ++e) {
      settled_out[h][e] *= factor;
      lost_out[h][e] *= factor;
    }
  }

  // Sums of many tokens would drift: every TILES_TO_SETTLE tiles they move on.
  void settle_all() {
    for (int h = 0; !settled && h < HEADS; ++h) {
      settled_sum[h] = lost_sum[h] = 0.0f;
      clear_row(settled_out[h], head_dim);
      clear_row(lost_out[h], head_dim);
    }
    settled = true;
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
  void end(State<T, D, HEADS> &state) {
    for (int h = 0; h < HEADS; ++h) {
      state.maximum[h] = maximum[h];
      state.sum[h] = Across<VECTOR_FLOATS / 2>::sum(sum[h]);
      if (settled) {
        state.sum[h] = settled_sum[h] + (state.sum[h] - lost_sum[h]);
        for (int e = 0; e < head_dim; ++e) {
          out[h][e] = settled_out[h][e] + (out[h][e] - lost_out[h][e]);
        }
      }
      unload_row<T>(out[h], head_dim, state.out[h]);
    }
  }
};

#endif
