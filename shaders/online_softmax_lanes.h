// The online softmax of a SIMD-group whose lanes share rows. A tile has HEADS * DEPTH scores a row
// slot; each lane keeps its own share of them, so that an exp is taken once and not in every lane.
#ifndef PAGEDRT_SHADERS_ONLINE_SOFTMAX_LANES_H
#define PAGEDRT_SHADERS_ONLINE_SOFTMAX_LANES_H

#include "rounds.h"
#include "settled.h"
#include "state.h"
#include "tile_lanes.h"
#include "transpose.h"

#define TILES_TO_SETTLE 8

template <typename T, int D, int HEADS, bool COMPENSATED>
struct OnlineSoftmax {
  using L = Layout<T, D>;
  enum : int {
    DEPTH = TileShape<T, D>::DEPTH,
    DOTS = HEADS * DEPTH,
    SCORES = DOTS < L::LANES ? 1 : DOTS / L::LANES, // a lane's own
    COPIES = DOTS < L::LANES ? L::LANES / DOTS : 1 // lanes that share a score
  };

  float query[HEADS][L::ELEMENTS];
  // Of the head of each of this lane's scores.
  float maximum[SCORES];
  float sum[SCORES];
  float lost_sum[SCORES];
  float out[HEADS][L::ELEMENTS];
  Settled<HEADS, L::ELEMENTS, COMPENSATED> settled; // what moved out of `out`
  uint lane;

  // Query heads past `heads` are zero: they are computed along and never stored.
  OnlineSoftmax(device const T *queries, uint heads, int head_dim, threadgroup float *shared, Place place)
      : settled(shared, place), lane(place.lane) {
    UNROLL
    for (int h = 0; h < HEADS; ++h) {
      Row<T, D> row;
      if (uint(h) < heads) {
        row.load(queries + h * head_dim, lane, head_dim);
      } else {
        row.clear();
      }
      row.read(query[h]);
      UNROLL
      for (int e = 0; e < L::ELEMENTS; ++e) {
        out[h][e] = 0.0f;
      }
    }
    UNROLL
    for (int j = 0; j < SCORES; ++j) {
      maximum[j] = NOTHING_SEEN;
      sum[j] = lost_sum[j] = 0.0f;
    }
  }

  // Which of the tile's dots this lane's j-th score is.
  int own(int j) const { return int(lane) % L::LANES / COPIES * SCORES + j; }

  // The value that the owner of a dot has for it.
  float owners(thread const float (&values)[SCORES], int dot) const {
    const uint slot = lane - lane % uint(L::LANES);
    return simd_shuffle(values[dot % SCORES], ushort(slot + uint(dot / SCORES * COPIES)));
  }

  struct Weights {
    thread const OnlineSoftmax &softmax;
    float own[SCORES];
    float of(int h, int i) const { return softmax.owners(own, h * DEPTH + i); }
  };

  // Over a span's tiles; SIMD-groups take turns. keys and values start at the KV head's first page. Returns
  // the smallest index of a bad page that this lane met, else PAGEDRT_UNSET; no row of one is read.
  // Loads run ahead: a tile's keys are asked for before the last tile's values are used.
  uint attend(device const T *keys, device const T *values, Pages pages, Span span, int head_dim, float scale,
              Place place) {
    Rounds<T, D> rounds(pages, span, place);
    Row<T, D> key_rows[DEPTH];
    Row<T, D> value_rows[DEPTH];
    if (rounds.more) {
      load_rows<T, D>(keys, pages, rounds.tile, lane, head_dim, key_rows);
      load_rows<T, D>(values, pages, rounds.tile, lane, head_dim, value_rows);
    }
    int unsettled = 0;
    while (rounds.more) {
      float dots[DOTS];
      tile_dots<T, D, HEADS, DEPTH>(query, key_rows, dots);
      const int count = rounds.tile.count;
      rounds.advance(pages, span, lane);
      if (rounds.more) {
        load_rows<T, D>(keys, pages, rounds.tile, lane, head_dim, key_rows);
      }
      Weights weights = {*this, {}};
      weigh(dots, count, scale, weights);
      tile_values<T, D, HEADS, DEPTH>(weights, value_rows, out);
      if (rounds.more) {
        load_rows<T, D>(values, pages, rounds.tile, lane, head_dim, value_rows);
      }
      unsettled += 1;
      if (unsettled == TILES_TO_SETTLE) {
        settled.add(out);
        unsettled = 0;
      }
    }
    return rounds.bad();
  }

  void weigh(thread float (&dots)[DOTS], int count, float scale, thread Weights &weights) {
    Transpose<DOTS, L::LANES / 2>::sum(dots, lane);
    float scores[SCORES];
    bool higher = false;
    UNROLL
    for (int j = 0; j < SCORES; ++j) {
      scores[j] = own(j) % DEPTH < count ? dots[j] * scale : NO_SCORE;
      higher = higher || scores[j] > maximum[j] + RAISE_MARGIN;
    }
    if (simd_max(uint(higher)) != 0) {
      raise(scores);
    }
    UNROLL
    for (int j = 0; j < SCORES; ++j) {
      weights.own[j] = fast::exp(scores[j] - maximum[j]);
      settle(sum[j], lost_sum[j], weights.own[j]);
    }
  }

  // Makes room for a tile's scores.
  void raise(thread const float (&scores)[SCORES]) {
    float factors[HEADS];
    UNROLL
    for (int h = 0; h < HEADS; ++h) {
      float highest = NOTHING_SEEN;
      UNROLL
      for (int i = 0; i < DEPTH; ++i) {
        const float score = owners(scores, h * DEPTH + i);
        highest = score > highest ? score : highest;
      }
      const float before = owners(maximum, h * DEPTH);
      const bool higher = highest > before + RAISE_MARGIN;
      factors[h] = higher ? fast::exp(before - highest) : 1.0f;
      UNROLL
      for (int e = 0; e < L::ELEMENTS; ++e) {
        out[h][e] *= factors[h];
      }
      UNROLL
      for (int j = 0; j < SCORES; ++j) {
        if (own(j) / DEPTH == h) {
          maximum[j] = higher ? highest : before;
          sum[j] *= factors[h];
          lost_sum[j] *= factors[h];
        }
      }
    }
    settled.scale(factors);
  }

  // After the last tile.
  void end(thread State<T, D, HEADS> &state) const {
    settled.read(out, state.out);
    UNROLL
    for (int h = 0; h < HEADS; ++h) {
      state.maximum[h] = owners(maximum, h * DEPTH);
      state.sum[h] = 0.0f;
      UNROLL
      for (int i = 0; i < DEPTH; ++i) {
        state.sum[h] += owners(sum, h * DEPTH + i);
      }
    }
    state.merge_rows();
  }
};

#endif
