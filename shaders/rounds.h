// The tiles of one SIMD-group, which takes turns with the others of its threadgroup.
#ifndef PAGEDRT_SHADERS_ROUNDS_H
#define PAGEDRT_SHADERS_ROUNDS_H

#include "place.h"
#include "span.h"
#include "tile_lanes.h"

template <typename T, int D>
struct Rounds {
  using L = Layout<T, D>;
  enum : uint { TOKENS = TileShape<T, D>::TOKENS };

  bool more; // whether `tile` is one of the span's: the same in every lane
  Tile tile;
  uint token;  // the tile's first
  uint stride; // tokens from a SIMD-group's tile to its next
  Stride tile_stride;
  Cursor next; // where this lane's first row of the next tile is; its page id is read ahead
  bool legal;  // whether that page may be read
  bool pages_hold_tiles;

  Rounds(Pages pages, Span span, Place place)
      : more(false), tile(0, pages.size, L::ROWS), token(span.begin + place.simdgroup * TOKENS),
        stride(TOKENS * place.simdgroups), tile_stride(stride, pages.size),
        next(token + place.lane / L::LANES, pages.size), legal(true), pages_hold_tiles(pages.size % TOKENS == 0) {
    if (token < span.end && pages_hold_tiles) {
      legal = next.read(pages);
    }
    take(pages, span, place.lane);
  }

  void advance(Pages pages, Span span, uint lane) {
    token += stride;
    take(pages, span, lane);
  }

  void take(Pages pages, Span span, uint lane) {
    const uint first = token + lane / L::LANES;
    const uint left = first < span.end ? (span.end - first + L::ROWS - 1) / L::ROWS : 0;
    more = token < span.end;
    next.bad = min(next.bad, tile.cursor.bad);
    tile.cursor = next;
    tile.count = legal ? int(min(left, uint(TileShape<T, D>::DEPTH))) : 0;
    tile.whole = legal && pages_hold_tiles && token + TOKENS <= span.end;
    next.advance(tile_stride, pages.size);
    if (token + stride < span.end && pages_hold_tiles) {
      legal = next.read(pages);
    }
  }

  // The smallest index met of a page that may not be read, else PAGEDRT_UNSET.
  uint bad() const { return min(next.bad, tile.cursor.bad); }
};

#endif
