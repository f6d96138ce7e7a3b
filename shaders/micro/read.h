// Reads all pages of a table `rounds` times: SIMD-groups take whole pages in turn, as in attention.
#ifndef PAGEDRT_SHADERS_MICRO_READ_H
#define PAGEDRT_SHADERS_MICRO_READ_H

#include "arguments.h"
#include "micro/total.h"

struct MicroRead {
  static void run(device const uint4 *memory, device const uint *page_table, device uint *out,
                  constant pagedrt_micro_arguments &args, threadgroup uint *slots, uint3 group, Place place) {
    const uint step = args.threadgroups * place.simdgroups;
    uint total = 0;
    // Over rounds and pages alike, so that no SIMD-group is idle where pages are few.
    for (uint at = group.x * place.simdgroups + place.simdgroup; at < args.rounds * args.pages; at += step) {
      const uint page = page_table[at % args.pages];
      if (page < args.page_capacity) {
        total += sum_of(memory + ulong(page) * args.page_loads, args.page_loads, place.lane);
      }
    }
    micro_total(out, slots, total, group, place);
  }

  // Of this lane's words of a page: PAGEDRT_MICRO_LOADS loads in flight. One sum a component, and a pointer
  // in place of an index, let a C++ compiler make vectors of it.
  static uint sum_of(device const uint4 *page, uint loads, uint lane) {
    uint x = 0, y = 0, z = 0, w = 0;
    device const uint4 *from = page + lane;
    for (uint left = loads / (PAGEDRT_MICRO_LOADS * SIMD_WIDTH); left > 0; --left) {
      UNROLL
      for (int i = 0; i < PAGEDRT_MICRO_LOADS; ++i) {
        const uint4 words = from[i * SIMD_WIDTH];
        x += words.x;
        y += words.y;
        z += words.z;
        w += words.w;
      }
      from += PAGEDRT_MICRO_LOADS * SIMD_WIDTH;
    }
    return x + y + z + w;
  }
};

#endif
