// The tiles of a span, in order: each is found ahead of its use, so that its rows can be prefetched.
#ifndef PAGEDRT_SHADERS_WIDTH1_TILES_H
#define PAGEDRT_SHADERS_WIDTH1_TILES_H

#include "cursor.h"
#include "span.h"

#define TILE_DEPTH 16 // tokens of a tile: one default page
#define TILES_AHEAD 2 // covers memory latency on the machines measured

struct Tile {
  ulong offsets[TILE_DEPTH]; // in elements, from the KV head's first page; past `count` some earlier row's
  int count;
};

struct Tiles {
  Pages pages;
  uint head_dim;
  uint end;   // of the span
  uint token; // first of the tile to be found next
  Stride one;
  Cursor cursor;
  Tile ahead[TILES_AHEAD + 1]; // the current one, then those that follow

  Tiles(Pages paged, Span span, uint dim)
      : pages(paged), head_dim(dim), end(span.end), token(span.begin), one(1, paged.size),
        cursor(span.begin, paged.size) {
    for (Tile &tile : ahead) {
      for (ulong &offset : tile.offsets) {
        offset = 0;
      }
      find(tile);
    }
  }

  // Ends at a bad page: no row of it is read, and nothing will be stored.
  void find(Tile &tile) {
    tile.count = int(min(end - token, uint(TILE_DEPTH)));
    for (int i = 0; i < tile.count; ++i) {
      if (!cursor.read(pages)) {
        tile.count = i;
        end = token + uint(i);
        break;
      }
      tile.offsets[i] = cursor.row(pages) * head_dim;
      cursor.advance(one, pages.size);
    }
    token += uint(tile.count);
  }

  void next() {
    for (int t = 0; t < TILES_AHEAD; ++t) {
      ahead[t] = ahead[t + 1];
    }
    find(ahead[TILES_AHEAD]);
  }
};

#endif
