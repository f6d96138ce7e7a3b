// The two inner products of a tile, for a SIMD-group whose lanes share rows.
#ifndef PAGEDRT_SHADERS_TILE_LANES_H
#define PAGEDRT_SHADERS_TILE_LANES_H

#include "cursor.h"
#include "layout.h"

// DEPTH rows a lane has in flight; a tile lies in a block of the span's grain.
template <typename T, int D>
struct TileShape {
  enum : int { DEPTH = Layout<T, D>::ROWS < 8 ? 4 : 2, TOKENS = DEPTH * Layout<T, D>::ROWS };
};

inline void unpack(uint word, device const float *, thread float *to) {
  to[0] = as_type<float>(word);
}

inline void unpack(uint pair, device const half *, thread float *to) {
  const float2 v = float2(as_type<half2>(pair));
  to[0] = v.x;
  to[1] = v.y;
}

// A shift each: bfloat arithmetic is emulated on M1 and M2.
inline void unpack(uint pair, device const bfloat *, thread float *to) {
  to[0] = as_type<float>(pair << 16);
  to[1] = as_type<float>(pair & 0xFFFF0000u);
}

inline void load_words(device const void *from, thread uint (&to)[1]) {
  to[0] = *static_cast<device const uint *>(from);
}
inline void load_words(device const void *from, thread uint (&to)[2]) {
  const uint2 v = *static_cast<device const uint2 *>(from);
  to[0] = v.x;
  to[1] = v.y;
}
inline void load_words(device const void *from, thread uint (&to)[4]) {
  const uint4 v = *static_cast<device const uint4 *>(from);
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
  to[3] = v.w;
}

// One lane's part of a row, as loaded: registers that wait for memory are the dearest.
template <typename T, int D>
struct Row {
  using L = Layout<T, D>;
  enum : int { WORDS = L::CHUNK * int(sizeof(T)) / 4, IN_WORD = 4 / int(sizeof(T)) };
  uint chunks[L::CHUNKS][WORDS];

  void load(device const T *row, uint lane, int) {
    UNROLL
    for (int c = 0; c < L::CHUNKS; ++c) {
      load_words(row + element_of<T, D>(lane, c * L::CHUNK), chunks[c]);
    }
  }

  void clear() {
    UNROLL
    for (int c = 0; c < L::CHUNKS; ++c) {
      UNROLL
      for (int w = 0; w < WORDS; ++w) {
        chunks[c][w] = 0;
      }
    }
  }

  void read(thread float (&x)[L::ELEMENTS]) const {
    UNROLL
    for (int c = 0; c < L::CHUNKS; ++c) {
      UNROLL
      for (int w = 0; w < WORDS; ++w) {
        unpack(chunks[c][w], (device const T *)nullptr, x + c * L::CHUNK + w * IN_WORD);
      }
    }
  }
};

// Any head_dim: single elements.
template <typename T>
struct Row<T, 0> {
  using L = Layout<T, 0>;
  float elements[L::ELEMENTS];

  void load(device const T *row, uint lane, int head_dim) {
    UNROLL
    for (int e = 0; e < L::ELEMENTS; ++e) {
      const int at = element_of<T, 0>(lane, e);
      elements[e] = at < head_dim ? float(row[at]) : 0.0f;
    }
  }

  void clear() {
    UNROLL
    for (int e = 0; e < L::ELEMENTS; ++e) {
      elements[e] = 0.0f;
    }
  }

  void read(thread float (&x)[L::ELEMENTS]) const {
    UNROLL
    for (int e = 0; e < L::ELEMENTS; ++e) {
      x[e] = elements[e];
    }
  }
};

// Where a tile lies. `whole`: all of its rows are there, in one page, whose id has been read ahead.
struct Tile {
  Cursor cursor; // at this lane's first row
  Stride row_stride;
  int count; // this lane's rows
  bool whole;

  Tile(uint token, uint page_size, uint rows)
      : cursor(token, page_size), row_stride(rows, page_size), count(0), whole(false) {}
};

template <typename T, int D>
inline void load_rows(device const T *base, Pages pages, thread Tile &tile, uint lane, int head_dim,
                      thread Row<T, D> (&rows)[TileShape<T, D>::DEPTH]) {
  if (tile.whole) {
    device const T *first = base + tile.cursor.row(pages) * uint(head_dim);
    UNROLL
    for (int i = 0; i < TileShape<T, D>::DEPTH; ++i) {
      rows[i].load(first + i * Layout<T, D>::ROWS * head_dim, lane, head_dim);
    }
    return;
  }
  Cursor cursor = tile.cursor;
  UNROLL
  for (int i = 0; i < TileShape<T, D>::DEPTH; ++i) {
    if (i < tile.count && cursor.read(pages)) { // rows past the last are not read
      rows[i].load(base + cursor.row(pages) * uint(head_dim), lane, head_dim);
    } else {
      rows[i].clear();
    }
    cursor.advance(tile.row_stride, pages.size);
  }
  tile.cursor.bad = cursor.bad;
}

// dots[h * DEPTH + i]: this lane's part of query[h] . row i.
template <typename T, int D, int HEADS, int DEPTH>
inline void tile_dots(thread const float (&query)[HEADS][Layout<T, D>::ELEMENTS], thread const Row<T, D> (&rows)[DEPTH],
                      thread float *dots) {
  UNROLL
  for (int i = 0; i < DEPTH; ++i) {
    float x[Layout<T, D>::ELEMENTS];
    rows[i].read(x);
    UNROLL
    for (int h = 0; h < HEADS; ++h) {
      float dot = query[h][0] * x[0];
      UNROLL
      for (int e = 1; e < Layout<T, D>::ELEMENTS; ++e) {
        dot += query[h][e] * x[e];
      }
      dots[h * DEPTH + i] = dot;
    }
  }
}

// out[h] += weights(h, i) * row i, over the tile's rows.
template <typename T, int D, int HEADS, int DEPTH, typename Weights>
inline void tile_values(thread const Weights &weights, thread const Row<T, D> (&rows)[DEPTH],
                        thread float (&out)[HEADS][Layout<T, D>::ELEMENTS]) {
  UNROLL
  for (int i = 0; i < DEPTH; ++i) {
    float x[Layout<T, D>::ELEMENTS];
    rows[i].read(x);
    UNROLL
    for (int h = 0; h < HEADS; ++h) {
      const float weight = weights.of(h, i);
      UNROLL
      for (int e = 0; e < Layout<T, D>::ELEMENTS; ++e) {
        out[h][e] += weight * x[e];
      }
    }
  }
}

#endif
