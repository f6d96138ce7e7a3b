// The query rows that a thread serves, and their scores against a tile.
#ifndef PAGEDRT_SHADERS_WIDTH1_QUERIES_H
#define PAGEDRT_SHADERS_WIDTH1_QUERIES_H

#include "tile_vector.h"

template <typename T, int D, int HEADS>
struct FloatQueries {
  enum : int { STRIDE = Layout<T, D>::ELEMENTS };

  alignas(Vector) float rows[HEADS][STRIDE]; // in the order of Step

  // Heads past `heads` are zero: they are computed along and never stored.
  FloatQueries(const T *from, uint heads, int head_dim) {
    for (int h = 0; h < HEADS; ++h) {
      if (uint(h) < heads) {
        load_row(from + h * head_dim, head_dim, rows[h]);
      } else {
        clear_row(rows[h], head_dim);
      }
    }
  }

  void score(const Rows<T> &keys, int count, int head_dim, float scale, float (&scores)[HEADS][TILE_DEPTH]) const {
    tile_scores<T, HEADS>(rows[0], STRIDE, keys, count, head_dim, scale, scores);
  }
};

template <typename T, int D, int HEADS>
struct Queries : FloatQueries<T, D, HEADS> {
  using FloatQueries<T, D, HEADS>::FloatQueries;
};

#if defined(__AVX512BF16__)
// One instruction multiplies and adds pairs of bfloat16, but takes subnormal numbers for 0. Where queries and
// scale are of common size that changes a score by 2^-54 at most; elsewhere queries are float32 here too.
template <int D, int HEADS>
struct Queries<bfloat, D, HEADS> {
  enum : int { STRIDE = (Layout<bfloat, D>::ELEMENTS + PAIRED - 1) / PAIRED * PAIRED };

  FloatQueries<bfloat, D, HEADS> single;
  alignas(Vector) bfloat paired[HEADS][STRIDE]; // padded with zeros
  bool common;

  Queries(const bfloat *from, uint heads, int head_dim) : single(from, heads, head_dim), common(true) {
    for (int h = 0; h < HEADS; ++h) {
      for (int d = 0; d < head_dim; d += PAIRED) {
        const __m512i some = uint(h) < heads ? load_paired(from + h * head_dim + d, head_dim - d) : __m512i{};
        common = common && all_common(some);
        _mm512_store_si512(&paired[h][d], some);
      }
    }
  }

  // 0, or of a magnitude from 2^-126 to below 2^42. What is lost then, of a subnormal key or a tiny product, is at
  // most 2^-126 * 2^42 an element; 512 elements and a scale of 2^20 make it 2^-55.
  static bool all_common(__m512i numbers) {
    const __m512i magnitudes = _mm512_and_si512(numbers, _mm512_set1_epi16(0x7FFF));
    const __m512i above_least = _mm512_sub_epi16(magnitudes, _mm512_set1_epi16(0x0080));
    const __mmask32 in_range = _mm512_cmple_epu16_mask(above_least, _mm512_set1_epi16(0x53FF));
    return (in_range | _mm512_testn_epi16_mask(magnitudes, magnitudes)) == 0xFFFFFFFFu;
  }

  void score(const Rows<bfloat> &keys, int count, int head_dim, float scale,
             float (&scores)[HEADS][TILE_DEPTH]) const {
    if (common && scale <= 0x1p20f) {
      tile_scores<bfloat, HEADS>(paired[0], STRIDE, keys, count, head_dim, scale, scores);
    } else {
      single.score(keys, count, head_dim, scale, scores);
    }
  }
};
#endif

#endif
