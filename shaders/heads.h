// Which query heads a threadgroup serves.
#ifndef PAGEDRT_SHADERS_HEADS_H
#define PAGEDRT_SHADERS_HEADS_H

#include "arguments.h"
#include "dialect.h"

// Query heads of one KV head that a SIMD-group serves, so that each K/V row is read once for all of them.
FUNCTION_CONSTANT(uint, heads_per_simdgroup, 0)

struct Heads {
  uint kv_head;
  uint first; // query head
  uint count;
};

inline Heads heads_of(uint group, uint heads_at_once, constant pagedrt_arguments &args) {
  const uint group_factor = args.query_heads / args.kv_heads;
  const uint tiles = (group_factor + heads_at_once - 1) / heads_at_once;
  Heads heads;
  heads.kv_head = group / tiles;
  const uint skipped = group % tiles * heads_at_once;
  heads.first = heads.kv_head * group_factor + skipped;
  heads.count = min(heads_at_once, group_factor - skipped);
  return heads;
}

#endif
