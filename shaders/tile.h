// The rows a lane reads at a time: TILE_DEPTH of them, fewer at a span's end.
#ifndef PAGEDRT_SHADERS_TILE_H
#define PAGEDRT_SHADERS_TILE_H

struct Tile {
  ulong offsets[TILE_DEPTH]; // in elements, from the KV head's first page; past `count` some earlier row's
  int count;
};

#endif
