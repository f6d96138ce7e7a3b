/* A device family: how threadgroups are run. What else softmetal does is the same for all. */
#ifndef SOFTMETAL_FAMILY_H
#define SOFTMETAL_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

enum { FAMILY_MESSAGE = 512 };

typedef struct softmetal_dispatch {
  const softmetal_kernel *kernel;
  const uint64_t *constants;     /* SOFTMETAL_CONSTANTS of them */
  void **buffers;                /* kernel->buffer_count of them, all bound */
  uint64_t *lengths;             /* bytes from buffers[n] to its end */
  uint32_t grid[3];              /* threadgroups */
  uint32_t threads[3];           /* per threadgroup */
  uint32_t grid_threads[3];      /* less than grid * threads where the last threadgroups are cut */
  uint32_t threadgroup_memory;   /* bytes at [[threadgroup(0)]] */
  uint64_t threadgroups;         /* product of grid */
  uint64_t *group_picoseconds;   /* of the pipeline: what a threadgroup took last, 0 before the first */
} softmetal_dispatch;

typedef struct softmetal_family {
  const char *name;
  const char *device_name;
  uint32_t simd_width;
  uint32_t max_threads; /* per threadgroup */
  bool whole_dispatches; /* run takes all threadgroups of a dispatch at once, on one thread */
  /* Those that this machine can run, best first, NULL-terminated. */
  const char *const *(*instruction_sets)(void);
  /* Runs `count` threadgroups from the first on, counted x first. Any thread may run any of them;
   * threadgroup_memory is the thread's. False with a message where the kernel broke a rule. */
  bool (*run)(const softmetal_dispatch *dispatch, uint64_t first, uint64_t count, void *threadgroup_memory,
              char message[FAMILY_MESSAGE]);
} softmetal_family;

/* NULL with *reason, a static string, when this build or machine has no such family. */
const softmetal_family *softmetal_family_find(const char *name, const char **reason);

extern const softmetal_family softmetal_family_cpu;
/* NULL with *reason when its shared object cannot be loaded. */
const softmetal_family *softmetal_family_simulator(const char **reason);

#endif
