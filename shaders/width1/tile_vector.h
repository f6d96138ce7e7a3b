// The two inner products of a tile for one thread that owns whole rows, and its prefetch: what
// tile_lanes.h is to a SIMD-group of many lanes.
#ifndef PAGEDRT_SHADERS_WIDTH1_TILE_VECTOR_H
#define PAGEDRT_SHADERS_WIDTH1_TILE_VECTOR_H

#include "layout.h"
#include "vector.h"

#define TILE_DEPTH 16 // tokens of a tile: one default page
#define TILES_TO_SETTLE 16

// Heads and tokens of one register block: HEADS x TOKENS accumulators, which one fold sums up.
template <int HEADS>
struct Block {
  enum : int {
    MOST = VECTOR_FLOATS == 16 ? 4 : 2,
    COUNT = HEADS < MOST ? HEADS : MOST,
    TOKENS = VECTOR_FLOATS / COUNT
  };
};

template <typename T, int COUNT, int TOKENS>
__attribute__((noinline)) static void score_block(const float *query, int query_stride, const T *const *rows, int dim,
                                                  float *scores) {
  Vector sum[COUNT * TOKENS];
  for (int i = 0; i < COUNT * TOKENS; ++i) {
    sum[i] = Vector{};
  }
  int d = 0;
  for (; d + VECTOR_FLOATS <= dim; d += VECTOR_FLOATS) {
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

template <typename T, int D, int HEADS>
inline void tile_scores(const float (&query)[HEADS][Layout<T, D>::ELEMENTS], const T *base,
                        const ulong (&offsets)[TILE_DEPTH], int count, int head_dim, uint,
                        float (&scores)[HEADS][TILE_DEPTH]) {
  using B = Block<HEADS>;
  const T *rows[TILE_DEPTH];
  const T *last = base + offsets[0];
  for (int i = 0; i < TILE_DEPTH; ++i) {
    last = i < count ? base + offsets[i] : last; // a row past the last is never read
    rows[i] = last;
  }
  for (int h = 0; h < HEADS; h += B::COUNT) {
    for (int t = 0; t < count; t += B::TOKENS) {
      score_block<T, B::COUNT, B::TOKENS>(query[h], Layout<T, D>::ELEMENTS, rows + t, head_dim, &scores[h][t]);
    }
  }
}

template <typename T, int COUNT, int VECTORS>
__attribute__((noinline)) static void value_block(const float *weights, const T *const *rows, int count, int d,
                                                  float *out, int out_stride) {
  Vector sum[COUNT][VECTORS];
  for (int h = 0; h < COUNT; ++h) {
    for (int c = 0; c < VECTORS; ++c) {
      sum[h][c] = Vector{}; // the tile's own: adding token by token to `out` would drift
    }
  }
  for (int t = 0; t < count; ++t) {
    const T *row = rows[t] + d;
    for (int c = 0; c < VECTORS; ++c) {
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

template <typename T, int D, int HEADS>
inline void tile_values(const float (&weights)[HEADS][TILE_DEPTH], const T *base, const ulong (&offsets)[TILE_DEPTH],
                        int count, int head_dim, uint, float (&out)[HEADS][Layout<T, D>::ELEMENTS]) {
  using B = Block<HEADS>;
  enum : int { STRIDE = Layout<T, D>::ELEMENTS };
  const T *rows[TILE_DEPTH];
  for (int i = 0; i < count; ++i) {
    rows[i] = base + offsets[i];
  }
  for (int h = 0; h < HEADS; h += B::COUNT) {
    int d = 0;
    for (; d + 4 * VECTOR_FLOATS <= head_dim; d += 4 * VECTOR_FLOATS) {
      value_block<T, B::COUNT, 4>(weights[h], rows, count, d, out[h], STRIDE);
    }
    for (; d + VECTOR_FLOATS <= head_dim; d += VECTOR_FLOATS) {
      value_block<T, B::COUNT, 1>(weights[h], rows, count, d, out[h], STRIDE);
    }
    if (d < head_dim) {
      for (int own = h; own < h + B::COUNT; ++own) {
        value_tail(weights[own], rows, count, d, head_dim - d, out[own]);
      }
    }
  }
}

template <typename T>
inline void prefetch_row(const T *row, int head_dim) {
  const char *bytes = reinterpret_cast<const char *>(row);
  for (int at = 0; at < head_dim * int(sizeof(T)); at += 64) {
    __builtin_prefetch(bytes + at);
  }
}

#endif
