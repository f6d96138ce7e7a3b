// The two inner products of a tile, for a SIMD-group whose lanes share rows.
#ifndef PAGEDRT_SHADERS_TILE_LANES_H
#define PAGEDRT_SHADERS_TILE_LANES_H

#include "layout.h"

#define TILE_DEPTH 4 // rows a lane has in flight
#define TILES_AHEAD 1
#define TILES_TO_SETTLE 8

#include "tile.h"

inline void load_chunk(device const float *from, thread float *to) {
  const float4 v = *reinterpret_cast<device const float4 *>(from);
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
  to[3] = v.w;
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

template <typename T>
inline void load_chunk(device const T *from, thread float *to) {
  const uint4 v = *reinterpret_cast<device const uint4 *>(from);
  unpack(v.x, from, to);
  unpack(v.y, from, to + 2);
  unpack(v.z, from, to + 4);
  unpack(v.w, from, to + 6);
}

// One lane's part of a row.
template <typename T, int D>
struct Row {
  float x[Layout<T, D>::ELEMENTS];

  void load(device const T *row, uint lane, int head_dim) {
    using L = Layout<T, D>;
    if (D == 0) {
      for (int e = 0; e < L::ELEMENTS; ++e) {
        const int at = element_of<T, D>(lane, e);
        x[e] = at < head_dim ? float(row[at]) : 0.0f;
      }
    } else {
      for (int c = 0; c < L::CHUNKS; ++c) {
        load_chunk(row + element_of<T, D>(lane, c * L::CHUNK), x + c * L::CHUNK);
      }
    }
  }

  void clear() {
    for (int e = 0; e < Layout<T, D>::ELEMENTS; ++e) {
      x[e] = 0.0f;
    }
  }
};

template <typename T, int D>
inline void load_rows(device const T *base, thread const Tile &tile, uint lane, int head_dim,
                      thread Row<T, D> (&rows)[TILE_DEPTH]) {
  for (int i = 0; i < TILE_DEPTH; ++i) {
    if (i < tile.count) {
      rows[i].load(base + tile.offsets[i], lane, head_dim);
    } else {
      rows[i].clear();
    }
  }
}

// scores[h][i] = scale * query[h] . row i, and the highest of them; -inf for rows past the last, which
// are not read. A GPU hides latency by switching SIMD-groups: the next tile is not prefetched.
template <typename T, int D, int HEADS>
inline void tile_scores(thread const float (&query)[HEADS][Layout<T, D>::ELEMENTS], device const T *keys,
                        thread const Tile &tile, thread const Tile &, int head_dim, float scale, uint lane,
                        thread float (&scores)[HEADS][TILE_DEPTH], thread float (&highest)[HEADS]) {
  Row<T, D> rows[TILE_DEPTH];
  load_rows<T, D>(keys, tile, lane, head_dim, rows);
  for (int h = 0; h < HEADS; ++h) {
    highest[h] = -INFINITY;
    for (int i = 0; i < TILE_DEPTH; ++i) {
      float dot = 0.0f;
      for (int e = 0; e < Layout<T, D>::ELEMENTS; ++e) {
        dot += query[h][e] * rows[i].x[e];
      }
      for (ushort step = Layout<T, D>::LANES / 2; step > 0; step /= 2) {
        dot += simd_shuffle_xor(dot, step);
      }
      scores[h][i] = i < tile.count ? dot * scale : -INFINITY;
      highest[h] = scores[h][i] > highest[h] ? scores[h][i] : highest[h];
    }
  }
}

// sum[h] += weights[h][i] and out[h] += weights[h][i] * row i, over the tile's rows.
template <typename T, int D, int HEADS>
inline void tile_values(thread const float (&weights)[HEADS][TILE_DEPTH], device const T *values,
                        thread const Tile &tile, thread const Tile &, int head_dim, uint lane,
                        thread float (&sum)[HEADS], thread float (&out)[HEADS][Layout<T, D>::ELEMENTS]) {
  Row<T, D> rows[TILE_DEPTH];
  load_rows<T, D>(values, tile, lane, head_dim, rows);
  for (int i = 0; i < TILE_DEPTH; ++i) {
    for (int h = 0; h < HEADS; ++h) {
      sum[h] += weights[h][i];
      for (int e = 0; e < Layout<T, D>::ELEMENTS; ++e) {
        out[h][e] += weights[h][i] * rows[i].x[e];
      }
    }
  }
}

#endif
