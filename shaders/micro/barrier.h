// Counts by way of a neighbour in the next SIMD-group: a store, a barrier and a load a round. A barrier
// that lets a thread through early shows as a wrong count.
#ifndef PAGEDRT_SHADERS_MICRO_BARRIER_H
#define PAGEDRT_SHADERS_MICRO_BARRIER_H

#include "arguments.h"
#include "micro/total.h"

struct MicroBarrier {
  static void run(device const uint4 *, device const uint *, device uint *out, constant pagedrt_micro_arguments &args,
                  threadgroup uint *slots, uint3 group, Place place) {
    const uint threads = place.simdgroups * SIMD_WIDTH;
    const uint mine = place.simdgroup * SIMD_WIDTH + place.lane;
    const uint neighbour = (mine + SIMD_WIDTH + 1) % threads;
    uint count = 0;
    // Two sets of slots in turn: who is a round ahead overwrites nothing that is still read.
    for (uint round = 0; round < args.rounds; ++round) {
      threadgroup uint *turn = slots + (round & 1) * threads;
      turn[mine] = count;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      count = turn[neighbour] + 1;
    }
    micro_total(out, slots + (args.rounds & 1) * threads, count, group, place);
  }
};

#endif
