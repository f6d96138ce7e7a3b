// The two inner products of a tile for one thread that owns whole rows, with the next tile's prefetch:
// what tile_lanes.h is to many lanes.
#ifndef PAGEDRT_SHADERS_WIDTH1_TILE_VECTOR_H
#define PAGEDRT_SHADERS_WIDTH1_TILE_VECTOR_H

#include "layout.h"
#include "state.h"
#include "step.h"
#include "tiles.h"

// Heads and tokens of one register block: HEADS x TOKENS accumulators, which one fold sums up.
template <int HEADS>
struct Block {
  enum : int {
    MOST = VECTOR_FLOATS == 16 ? 4 : 2,
    COUNT = HEADS < MOST ? HEADS : MOST,
    TOKENS = VECTOR_FLOATS / COUNT
  };
};

// A tile's rows, and how far from each the row lies that will be read TILES_AHEAD tiles later: a guess where
// either tile is not whole, and no more than a hint.
template <typename T>
struct Rows {
  const T *at[TILE_DEPTH];
  ptrdiff_t ahead;

  Rows(const T *base, const Tile &tile, const Tile &later, int head_dim)
      : ahead(later.count > 0 ? ptrdiff_t(later.first - tile.first) : 0) {
    const T *row = base + tile.first;
    for (int i = 0; i < TILE_DEPTH; ++i) {
      at[i] = row + i * head_dim;
    }
    for (int i = 0; !tile.whole && i < TILE_DEPTH; ++i) {
      at[i] = i < tile.count ? base + tile.offsets[i] : at[0]; // a row past the last is never read
    }
  }
};

// Asks for the cache line at element d of each row, once a line: prefetches share the load slots that
// arithmetic leaves free, so they stand among it. Into L2: the first level tracks too few misses. Inlined: GCC drops
// a call that does nothing but this.
template <typename T, int COUNT>
ALWAYS_INLINE void prefetch(const T *const *rows, int d, ptrdiff_t ahead) {
  if (d % (64 / int(sizeof(T))) == 0) {
    for (int i = 0; i < COUNT; ++i) {
      __builtin_prefetch(rows[i] + d + ahead, 0, 2);
    }
  }
}

// sum[h * TOKENS + t] += query h . row t, over the elements of one step.
template <typename S, typename T, int COUNT, int TOKENS>
ALWAYS_INLINE void score_step(const float *query, int query_stride, const T *const *rows, int d, Vector *sum) {
  Vector q[COUNT][S::VECTORS];
  UNROLL_VECTORS
  for (int h = 0; h < COUNT; ++h) {
    UNROLL_VECTORS
    for (int c = 0; c < S::VECTORS; ++c) {
      q[h][c] = load_vector(query + h * query_stride + d + c * VECTOR_FLOATS);
    }
  }
  UNROLL_VECTORS
  for (int t = 0; t < TOKENS; ++t) {
    Vector k[S::VECTORS];
    S::load(rows[t] + d, k);
    UNROLL_VECTORS
    for (int c = 0; c < S::VECTORS; ++c) {
      UNROLL_VECTORS
      for (int h = 0; h < COUNT; ++h) {
        sum[h * TOKENS + t] += q[h][c] * k[c];
      }
    }
  }
}

// more: added to the scores that are there.
template <int COUNT, int TOKENS>
ALWAYS_INLINE void store_scores(Vector *sum, bool more, float *scores) {
  const Vector total = sums_of(sum);
  UNROLL_VECTORS
  for (int h = 0; h < COUNT; ++h) {
    float *to = scores + h * TILE_DEPTH;
    const float *from = reinterpret_cast<const float *>(&total) + h * TOKENS;
    if (more) {
      for (int t = 0; t < TOKENS; ++t) {
        to[t] += from[t];
      }
    } else {
      __builtin_memcpy(to, from, TOKENS * sizeof(float));
    }
  }
}

// The last n elements of a row. Apart from the sums of the others, which must stay in registers.
template <typename T, int COUNT, int TOKENS>
__attribute__((noinline)) static void score_tail(const float *query, int query_stride, const T *const *rows, int d,
                                                 int n, float *scores) {
  for (int t = 0; t < TOKENS; ++t) {
    const Vector k = load_part(rows[t] + d, n);
    for (int h = 0; h < COUNT; ++h) {
      const Vector q = load_part(query + h * query_stride + d, n);
      scores[h * TILE_DEPTH + t] += Across<VECTOR_FLOATS / 2>::sum(q * k);
    }
  }
}

// Elements of a row whose scores are summed up apart: a long chain in each lane of a short vector would err too far.
enum : int { LONGEST_ROW = 512, SEGMENT = VECTOR_FLOATS == 4 ? 128 : LONGEST_ROW };

// Elements begin to end of a row, whole vectors. NEXT: rows to prefetch, as many as are read; 0 when another block of
// heads has done so.
template <typename T, int COUNT, int TOKENS, int NEXT>
__attribute__((noinline)) static void score_segment(const float *query, int query_stride, const T *const *rows,
                                                    ptrdiff_t ahead, int begin, int end, float *scores) {
  using S = Step<T>;
  enum : int { STEP = S::VECTORS * VECTOR_FLOATS };
  Vector sum[COUNT * TOKENS];
  UNROLL_VECTORS
  for (int i = 0; i < COUNT * TOKENS; ++i) {
    sum[i] = Vector{};
  }
  int d = begin;
  for (; d + STEP <= end; d += STEP) {
    prefetch<T, NEXT>(rows, d, ahead);
    score_step<S, T, COUNT, TOKENS>(query, query_stride, rows, d, sum);
  }
  if (S::VECTORS > 1 && d + VECTOR_FLOATS <= end) {
    score_step<InOrder, T, COUNT, TOKENS>(query, query_stride, rows, d, sum);
    d += VECTOR_FLOATS;
  }
  store_scores<COUNT, TOKENS>(sum, begin > 0, scores);
}

template <typename T, int COUNT, int TOKENS, int NEXT>
ALWAYS_INLINE void score_block(const float *query, int query_stride, const T *const *rows, ptrdiff_t ahead, int dim,
                               float *scores) {
  const int whole = dim / VECTOR_FLOATS * VECTOR_FLOATS;
  int begin = 0;
  for (; SEGMENT < LONGEST_ROW && whole - begin > SEGMENT; begin += SEGMENT) {
    score_segment<T, COUNT, TOKENS, NEXT>(query, query_stride, rows, ahead, begin, begin + SEGMENT, scores);
  }
  score_segment<T, COUNT, TOKENS, NEXT>(query, query_stride, rows, ahead, begin, whole, scores);
  if (whole < dim) {
    score_tail<T, COUNT, TOKENS>(query, query_stride, rows, whole, dim - whole, scores);
  }
}

#if defined(__AVX512BF16__)
enum : int { PAIRED = 2 * VECTOR_FLOATS }; // elements of a vector of pairs

// The first n elements; nothing past them is read.
ALWAYS_INLINE __m512i load_paired(const bfloat *from, int n) {
  return n >= PAIRED ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi16((1u << n) - 1, from);
}

template <int COUNT, int TOKENS>
ALWAYS_INLINE void paired_step(const bfloat *query, int query_stride, const bfloat *const *rows, int d, int n,
                               Vector *sum) {
  __m512bh q[COUNT];
  UNROLL_VECTORS
  for (int h = 0; h < COUNT; ++h) {
    q[h] = (__m512bh)_mm512_load_si512(query + h * query_stride + d);
  }
  UNROLL_VECTORS
  for (int t = 0; t < TOKENS; ++t) {
    const __m512bh k = (__m512bh)load_paired(rows[t] + d, n);
    UNROLL_VECTORS
    for (int h = 0; h < COUNT; ++h) {
      sum[h * TOKENS + t] = (Vector)_mm512_dpbf16_ps((__m512)sum[h * TOKENS + t], q[h], k);
    }
  }
}

// As above, of queries whose rows are padded with zeros to whole vectors of pairs.
template <typename T, int COUNT, int TOKENS, int NEXT>
__attribute__((noinline)) static void score_block(const bfloat *query, int query_stride, const bfloat *const *rows,
                                                  ptrdiff_t ahead, int dim, float *scores) {
  Vector sum[COUNT * TOKENS];
  UNROLL_VECTORS
  for (int i = 0; i < COUNT * TOKENS; ++i) {
    sum[i] = Vector{};
  }
  int d = 0;
  for (; d + PAIRED <= dim; d += PAIRED) {
    prefetch<bfloat, NEXT>(rows, d, ahead);
    paired_step<COUNT, TOKENS>(query, query_stride, rows, d, PAIRED, sum);
  }
  if (d < dim) {
    paired_step<COUNT, TOKENS>(query, query_stride, rows, d, dim - d, sum);
  }
  store_scores<COUNT, TOKENS>(sum, false, scores);
}
#endif

// scores[h][i] = scale * query[h] . row i; NO_SCORE for rows past the last, which are not read.
template <typename T, int HEADS, typename Q>
inline void tile_scores(const Q *query, int query_stride, const Rows<T> &rows, int count, int head_dim, float scale,
                        float (&scores)[HEADS][TILE_DEPTH]) {
  using B = Block<HEADS>;
  for (int t = 0; t < count; t += B::TOKENS) {
    score_block<T, B::COUNT, B::TOKENS, B::TOKENS>(query, query_stride, rows.at + t, rows.ahead, head_dim,
                                                   &scores[0][t]);
    for (int h = B::COUNT; h < HEADS; h += B::COUNT) {
      score_block<T, B::COUNT, B::TOKENS, 0>(query + h * query_stride, query_stride, rows.at + t, 0, head_dim,
                                             &scores[h][t]);
    }
  }
  const Vector numbers = lane_numbers();
  const Vector none = Vector{} + NO_SCORE;
  for (int h = 0; h < HEADS; ++h) {
    for (int t = 0; t < TILE_DEPTH; t += VECTOR_FLOATS) {
      const Vector scaled = load_vector(&scores[h][t]) * scale;
      store_vector(&scores[h][t], numbers < float(count - t) ? scaled : none);
    }
  }
}

// out += the weighted rows, over VECTORS vectors from element d on. NEXT: 1 prefetches each row's successor.
template <typename S, typename T, int COUNT, int VECTORS, int NEXT>
__attribute__((noinline)) static void value_block(const float *weights, const T *const *rows, ptrdiff_t ahead,
                                                  int count, int d, float *out, int out_stride) {
  Vector sum[COUNT][VECTORS];
  UNROLL_VECTORS
  for (int h = 0; h < COUNT; ++h) {
    UNROLL_VECTORS
    for (int c = 0; c < VECTORS; ++c) {
      sum[h][c] = Vector{}; // the tile's own: adding token by token to `out` would drift
    }
  }
  for (int t = 0; t < count; ++t) {
    UNROLL_VECTORS
    for (int c = 0; c < VECTORS; c += S::VECTORS) {
      prefetch<T, NEXT>(rows + t, d + c * VECTOR_FLOATS, ahead);
      Vector v[S::VECTORS];
      S::load(rows[t] + d + c * VECTOR_FLOATS, v);
      UNROLL_VECTORS
      for (int p = 0; p < S::VECTORS; ++p) {
        UNROLL_VECTORS
        for (int h = 0; h < COUNT; ++h) {
          sum[h][c + p] += v[p] * weights[h * TILE_DEPTH + t];
        }
      }
    }
  }
  UNROLL_VECTORS
  for (int h = 0; h < COUNT; ++h) {
    UNROLL_VECTORS
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
static inline void value_rows(const float *weights, const Rows<T> &rows, int count, int dim, float *out, int stride) {
  using S = Step<T>;
  enum : int { STEP = S::VECTORS * VECTOR_FLOATS };
  int d = 0;
  for (; d + 4 * VECTOR_FLOATS <= dim; d += 4 * VECTOR_FLOATS) {
    value_block<S, T, COUNT, 4, NEXT>(weights, rows.at, rows.ahead, count, d, out, stride);
  }
  for (; d + STEP <= dim; d += STEP) {
    value_block<S, T, COUNT, S::VECTORS, NEXT>(weights, rows.at, rows.ahead, count, d, out, stride);
  }
  if (S::VECTORS > 1 && d + VECTOR_FLOATS <= dim) {
    value_block<InOrder, T, COUNT, 1, NEXT>(weights, rows.at, rows.ahead, count, d, out, stride);
    d += VECTOR_FLOATS;
  }
  for (int h = 0; d < dim && h < COUNT; ++h) {
    value_tail(weights + h * TILE_DEPTH, rows.at, count, d, dim - d, out + h * stride);
  }
}

// out[h] += weights[h][i] * row i, over the tile's rows.
template <typename T, int D, int HEADS>
inline void tile_values(const float (&weights)[HEADS][TILE_DEPTH], const Rows<T> &rows, int count, int head_dim,
                        float (&out)[HEADS][Layout<T, D>::ELEMENTS]) {
  using B = Block<HEADS>;
  enum : int { STRIDE = Layout<T, D>::ELEMENTS };
  value_rows<T, B::COUNT, 1>(weights[0], rows, count, head_dim, out[0], STRIDE);
  for (int h = B::COUNT; h < HEADS; h += B::COUNT) {
    value_rows<T, B::COUNT, 0>(weights[h], rows, count, head_dim, out[h], STRIDE);
  }
}

#endif
