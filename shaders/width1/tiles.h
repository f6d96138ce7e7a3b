// The tiles of a span, in order: each is found ahead of its use, so that its rows can be prefetched.
#ifndef PAGEDRT_SHADERS_WIDTH1_TILES_H
#define PAGEDRT_SHADERS_WIDTH1_TILES_H

#include "cursor.h"
#include "span.h"

#define TILE_DEPTH 16 // tokens of a tile: one default page
#define TILES_AHEAD 2 // covers memory latency on the machines measured

struct Tile {
  ulong first; // offset of the first row in elements, from the KV head's first page
  int count;
  bool whole;                // TILE_DEPTH rows that follow one another
  ulong offsets[TILE_DEPTH]; // of each row where it is not whole
};

struct Tiles {
  enum : uint { RING = 4 };
  static_assert(RING > TILES_AHEAD, "the current tile is in the ring too");

  Pages pages;
  uint head_dim;
  uint end;   // of the span
  uint token; // first of the tile to be found next
  Stride one;
  Stride depth;
  Cursor cursor;
  uint number; // of the current tile
  Tile ring[RING];

  Tiles(Pages paged, Span span, uint dim)
      : pages(paged), head_dim(dim), end(span.end), token(span.begin), one(1, paged.size),
        depth(TILE_DEPTH, paged.size), cursor(span.begin, paged.size), number(0) {
    for (uint i = 0; i <= TILES_AHEAD; ++i) {
      find(ring[i]);
    }
  }

  const Tile &current() const { return ring[number % RING]; }
  const Tile &ahead() const { return ring[(number + TILES_AHEAD) % RING]; }

  // Ends at a bad page: no row of it is read, and nothing will be stored.
  void find(Tile &tile) {
    tile.count = int(min(end - token, uint(TILE_DEPTH)));
    tile.whole = false;
    if (tile.count == 0) {
      tile.first = 0;
      return;
    }
    if (!cursor.read(pages)) {
      tile.count = 0;
      return;
    }
    tile.first = cursor.row(pages) * head_dim;
    if (tile.count == TILE_DEPTH && cursor.slot + TILE_DEPTH <= pages.size) {
      tile.whole = true;
      cursor.advance(depth, pages.size);
    } else {
      walk(tile);
    }
    token += uint(tile.count);
  }

  void walk(Tile &tile) {
    for (int i = 0; i < tile.count; ++i) {
      if (!cursor.read(pages)) {
        tile.count = i;
        return;
      }
      tile.offsets[i] = cursor.row(pages) * head_dim;
      cursor.advance(one, pages.size);
    }
  }

  void next() {
    number += 1;
    find(ring[(number + TILES_AHEAD) % RING]);
  }
};

#endif
