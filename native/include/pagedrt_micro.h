/* Microbenchmarks: dispatches of one kind of work each, for those who measure a device. Not of use to
 * attention, and free to change in any version.
 *
 * Time comes from pagedrt_stats.gpu_nanoseconds before and after a launch, or from the caller's clock.
 * Every kernel ends by storing, for lane l of threadgroup g, the sum (modulo 2^32) over the threadgroup's
 * SIMD-groups of what lane l found, to out[g * simd_width + l].
 */
#ifndef PAGEDRT_MICRO_H
#define PAGEDRT_MICRO_H

#include "pagedrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pagedrt_micro_launch {
  uint32_t threadgroups;        /* of each dispatch */
  uint32_t simdgroups;          /* a threadgroup */
  uint32_t rounds;              /* of work a dispatch; 0 leaves the launch itself */
  uint32_t dispatches;          /* of a command buffer, each after the one before */
  uint32_t command_buffers;     /* 1 to 8, committed one after the other */
  const void *memory;           /* page_capacity * page_bytes, aligned to 16 */
  const uint32_t *page_table;   /* pages ids below page_capacity */
  uint32_t *out;                /* out_length words: threadgroups * simd_width */
  uint32_t page_capacity, pages, out_length;
  uint32_t page_bytes;          /* a multiple of 64 * simd_width */
} pagedrt_micro_launch;

/* Runs the command buffers and waits for them. Arrays must lie in the device's live buffers; all three are
 * bound whatever the kernel. kernel:
 *   "pagedrt_micro_read"      SIMD-groups take the table's pages in turn, rounds times over; a lane finds
 *                             the sum of the 32-bit words that it read
 *   "pagedrt_micro_barrier"   a round stores to threadgroup memory, passes a barrier and loads what a thread
 *                             of the next SIMD-group stored; a thread finds the number of rounds
 *   "pagedrt_micro_simd_sum"  a round is a simd_sum of what the round before gave, a multiplication and an
 *                             addition; lane l finds rounds * (simd_width - 1) + 2 * l, exact up to 16,000
 *                             rounds, and 0 on a SIMD width of 1
 */
PAGEDRT_API pagedrt_status pagedrt_micro_run(pagedrt_device *device, const char *kernel, const pagedrt_micro_launch *launch);

/* The most SIMD-groups a threadgroup that the kernel's pipeline allows. */
PAGEDRT_API pagedrt_status pagedrt_micro_most_simdgroups(pagedrt_device *device, const char *kernel, uint32_t *simdgroups);

#ifdef __cplusplus
}
#endif
#endif
