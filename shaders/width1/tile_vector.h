// The two inner products of a tile for one thread that owns whole rows, with the next tile's prefetch:
// what tile_lanes.h is to many lanes.
#ifndef PAGEDRT_SHADERS_WIDTH1_TILE_VECTOR_H
#define PAGEDRT_SHADERS_WIDTH1_TILE_VECTOR_H

#include "layout.h"
#include "tiles.h"
#include "vector.h"

// Heads and tokens of one register block: HEADS x TOKENS accumulators, which one fold sums up.
template <int HEADS>
struct Block {
  enum : int {
    MOST = VECTOR_FLOATS == 16 ? 4 : 2,
    COUNT = HEADS < MOST ? HEADS : MOST,
    TOKENS = VECTOR_FLOATS / COUNT
  };
};

// Asks for the cache line at element d of each row, once a line: prefetches share the load slots that
// arithmetic leaves free, so they stand among it. Into L2: the first level tracks too few misses.
template <typename T, int COUNT>
static inline void prefetch(const T *const *rows, int d) {
  if (d % (64 / int(sizeof(T))) == 0) {
    for (int i = 0; i < COUNT; ++i) {
      __builtin_prefetch(rows[i] + d, 0, 2);
    }
  }
}

// NEXT: rows to prefetch, as many as are read; 0 when another block of heads has done so.
template <typename T, int COUNT, int TOKENS, int NEXT>
__attribute__((noinline)) static void score_block(const float *query, int query_stride, const T *const *rows,
                                                  const T *const *next, int dim, float *scores) {
  Vector sum[COUNT * TOKENS];
  for (int i = 0; i < COUNT * TOKENS; ++i) {
    sum[i] = Vector{};
  }
  int d = 0;
  for (; d + VECTOR_FLOATS <= dim; d += VECTOR_FLOATS) {
    prefetch<T, NEXT>(next, d);
    Vector q[COUNT];
    for (int h = 0; h < COUNT; ++h) {
      q[h] = load_vector(query + h * query_stride + d);
    }
    for (int t = 0; t < TOKENS; ++t) {
      const Vector k = load_vector(rows[t] + d);
      for (int h = 0; h < COUNT; ++h) {
        sum[h * TOKENS + t] += q[h] * k;
      }
    }
  }
  const Vector total = sums_of(sum);
  for (int h = 0; h < COUNT; ++h) {
    __builtin_memcpy(scores + h * TILE_DEPTH, reinterpret_cast<const float *>(&total) + h * TOKENS,
                     TOKENS * sizeof(float));
  }
  for (; d < dim; ++d) { // apart from the sums above, which must stay in registers
    for (int t = 0; t < TOKENS; ++t) {
      const float k = float(rows[t][d]);
      for (int h = 0; h < COUNT; ++h) {
        scores[h * TILE_DEPTH + t] += query[h * query_stride + d] * k;
      }
    }
  }
}

template <typename T>
static inline void row_pointers(const T *base, const Tile &tile, const T *(&rows)[TILE_DEPTH]) {
  const T *last = base + tile.offsets[0];
  for (int i = 0; i < TILE_DEPTH; ++i) {
    last = i < tile.count ? base + tile.offsets[i] : last; // a row past the last is never read
    rows[i] = last;
  }
}

template <typename T, int D, int HEADS>
inline void tile_scores(const float (&query)[HEADS][Layout<T, D>::ELEMENTS], const T *keys, const Tile &tile,
                        const Tile &next, int head_dim, float scale, float (&scores)[HEADS][TILE_DEPTH],
                        float (&highest)[HEADS]) {
  using B = Block<HEADS>;
  enum : int { STRIDE = Layout<T, D>::ELEMENTS };
  const T *rows[TILE_DEPTH];
  const T *coming[TILE_DEPTH];
  row_pointers(keys, tile, rows);
  row_pointers(keys, next, coming);
  for (int t = 0; t < tile.count; t += B::TOKENS) {
    score_block<T, B::COUNT, B::TOKENS, B::TOKENS>(query[0], STRIDE, rows + t, coming + t, head_dim, &scores[0][t]);
    for (int h = B::COUNT; h < HEADS; h += B::COUNT) {
      score_block<T, B::COUNT, B::TOKENS, 0>(query[h], STRIDE, rows + t, coming, head_dim, &scores[h][t]);
    }
  }
  const Vector numbers = lane_numbers();
  const Vector none = Vector{} - INFINITY;
  for (int h = 0; h < HEADS; ++h) {
    Vector top = none;
    for (int t = 0; t < TILE_DEPTH; t += VECTOR_FLOATS) {
      const Vector scaled = load_vector(&scores[h][t]) * scale;
      const Vector masked = numbers < float(tile.count - t) ? scaled : none;
      store_vector(&scores[h][t], masked);
      top = masked > top ? masked : top;
    }
    highest[h] = Across<VECTOR_FLOATS / 2>::highest(top);
  }
}

// NEXT: 1 prefetches each row's successor, 0 leaves that to another block of heads.
template <typename T, int COUNT, int VECTORS, int NEXT>
__attribute__((noinline)) static void value_block(const float *weights, const T *const *rows, const T *const *next,
                                                  int count, int d, float *out, int out_stride) {
  Vector sum[COUNT][VECTORS];
  for (int h = 0; h < COUNT; ++h) {
    for (int c = 0; c < VECTORS; ++c) {
      sum[h][c] = Vector{}; // the tile's own: adding token by token to `out` would drift
    }
  }
  for (int t = 0; t < count; ++t) {
    const T *row = rows[t] + d;
    for (int c = 0; c < VECTORS; ++c) {
      prefetch<T, NEXT>(next + t, d + c * VECTOR_FLOATS);
      const Vector v = load_vector(row + c * VECTOR_FLOATS);
      for (int h = 0; h < COUNT; ++h) {
        sum[h][c] += v * weights[h * TILE_DEPTH + t];
      }
    }
  }
  for (int h = 0; h < COUNT; ++h) {
    for (int c = 0; c < VECTORS; ++c) {
      float *to = out + h * out_stride + d + c * VECTOR_FLOATS;
      store_vector(to, load_vector(to) + sum[h][c]);
    }
  }
}

template <typename T>
static void value_tail(const float *weights, const T *const *rows, int count, int d, int n, float *out) {
  Vector sum = {};
  for (int t = 0; t < count; ++t) {
    sum += load_part(rows[t] + d, n) * weights[t];
  }
  store_part(out + d, load_part(out + d, n) + sum, n);
}

template <typename T, int COUNT, int NEXT>
static inline void value_rows(const float *weights, const T *const *rows, const T *const *next, int count, int dim,
                              float *out, int stride) {
  int d = 0;
  for (; d + 4 * VECTOR_FLOATS <= dim; d += 4 * VECTOR_FLOATS) {
    value_block<T, COUNT, 4, NEXT>(weights, rows, next, count, d, out, stride);
  }
  for (; d + VECTOR_FLOATS <= dim; d += VECTOR_FLOATS) {
    value_block<T, COUNT, 1, NEXT>(weights, rows, next, count, d, out, stride);
  }
  for (int h = 0; d < dim && h < COUNT; ++h) {
    value_tail(weights + h * TILE_DEPTH, rows, count, d, dim - d, out + h * stride);
  }
}

template <typename T, int D, int HEADS>
inline void tile_values(const float (&weights)[HEADS][TILE_DEPTH], const T *values, const Tile &tile, const Tile &next,
                        int head_dim, float (&sum)[HEADS], float (&out)[HEADS][Layout<T, D>::ELEMENTS]) {
  using B = Block<HEADS>;
  enum : int { STRIDE = Layout<T, D>::ELEMENTS };
  const T *rows[TILE_DEPTH];
  const T *coming[TILE_DEPTH];
  row_pointers(values, tile, rows);
  row_pointers(values, next, coming);
  value_rows<T, B::COUNT, 1>(weights[0], rows, coming, tile.count, head_dim, out[0], STRIDE);
  for (int h = B::COUNT; h < HEADS; h += B::COUNT) {
    value_rows<T, B::COUNT, 0>(weights[h], rows, coming, tile.count, head_dim, out[h], STRIDE);
  }
  for (int h = 0; h < HEADS; ++h) {
    Vector total = load_vector(&weights[h][0]);
    for (int t = VECTOR_FLOATS; t < TILE_DEPTH; t += VECTOR_FLOATS) {
      total += load_vector(&weights[h][t]);
    }
    sum[h] += Across<VECTOR_FLOATS / 2>::sum(total);
  }
}

#endif
