/* The simulator: a dispatch run thread by thread at SIMD width 32, Metal's rules enforced. */
#ifndef SOFTMETAL_SIMULATOR_H
#define SOFTMETAL_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIMULATOR_WIDTH = 32, SIMULATOR_MAX_THREADS = 1024 };

typedef struct simulator_dispatch {
  const softmetal_kernel *kernel;
  void *const *buffers;         /* by [[buffer(n)]], offset added; NULL where unbound */
  const size_t *lengths;        /* bytes from there to the buffer's end */
  const uint64_t *constants;
  size_t threadgroup_length;    /* bytes of [[threadgroup(0)]] */
  uint32_t threadgroups[3];
  uint32_t threads;             /* per threadgroup, a multiple of the width */
  uint64_t seed;                /* of the order of threadgroups, SIMD-groups and yields; 0: in order */
} simulator_dispatch;

/* Runs the whole dispatch on the calling thread. False when the kernel broke a rule: message then
 * names the kernel, the thread, and the buffer or barrier and offset. */
bool softmetal_simulator_run(const simulator_dispatch *dispatch, char *message, size_t message_size);

/* The one symbol that the simulator's shared object exports: its engine and its kernels. */
typedef struct softmetal_simulator {
  bool (*run)(const simulator_dispatch *dispatch, char *message, size_t message_size);
  const softmetal_library *const *libraries;
  uint32_t library_count;
} softmetal_simulator;
__attribute__((visibility("default"))) const softmetal_simulator *softmetal_simulator_open(void);

/* What a kernel compiled for the simulator calls in place of Metal's functions. */
void softmetal_simulator_read(const void *address, size_t length);
enum { SIMULATOR_MEM_DEVICE = 1, SIMULATOR_MEM_THREADGROUP = 2 };
void softmetal_simulator_barrier(int flags);
/* [[thread_index_in_simdgroup]] of the running thread. */
uint32_t softmetal_simulator_lane(void);
/* Every lane of the SIMD-group gives a value and sees all 32; valid until its next SIMD-group call.
 * `operation` tells apart calls that must not meet. */
const uint64_t *softmetal_simulator_exchange(uint64_t value, uint64_t operation);

#ifdef __cplusplus
}
#endif
#endif
