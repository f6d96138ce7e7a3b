/* Runs each wrong kernel of traps.metal and its right twin, under several seeds. */
#include <stdio.h>
#include <string.h>

#include "simulator/simulator.h"

typedef struct trap {
  const char *wrong, *right;
  const char *message; /* what a trap must say, besides the kernel and thread */
  uint32_t threadgroups;
  bool aliased;
} trap;

static const trap traps[] = {
    {"read_past_end", "read_to_end", "out-of-bounds read of 4 bytes at offset 256 of buffer 0, which has 256 bytes", 1, false},
    {"write_before_start", "write_from_start", "out-of-bounds write of 4 bytes at offset -4 of buffer 0", 1, false},
    {"read_misaligned", "read_aligned", "misaligned read of 16 bytes at offset 4 of buffer 0", 1, false},
    {"divergent_barrier", "uniform_barrier", "divergent barrier", 1, false},
    {"barrier_after_some_ended", "barrier_before_some_end", "divergent barrier", 1, false},
    {"divergent_shuffle", "uniform_shuffle", "divergent SIMD-group function", 1, false},
    {"shuffle_masks_differ", "shuffle_masks_agree", "divergent SIMD-group function", 1, false},
    {"threadgroup_never_written", "threadgroup_written", "threadgroup memory never written at offset", 1, false},
    {"threadgroup_past_end", "threadgroup_to_end", "out-of-bounds write of 4 bytes at offset 256 of threadgroup memory", 1, false},
    /* whichever thread comes first meets what is not written yet, or races */
    {"threadgroup_race", "threadgroup_ordered", "threadgroup memory", 1, false},
    {"wrong_barrier_flag", "right_barrier_flag", "data race", 1, false},
    {"device_race", "device_ordered", "data race", 1, false},
    {"race_across_threadgroups", "apart_across_threadgroups", "data race", 2, false},
    {"read_then_written_by_another_threadgroup", "read_by_both_threadgroups", "data race", 2, false},
    {"atomic_and_plain", "atomic_only", "data race", 1, false},
    {"write_through_alias", "read_through_alias", "which is bound at another index too", 1, true},
};

static const softmetal_library *kernels;

void softmetal_register_library(const softmetal_library *library) {
  kernels = library;
}

static const softmetal_kernel *find(const char *name) {
  for (uint32_t i = 0; i < kernels->kernel_count; ++i) {
    if (strcmp(kernels->kernels[i].name, name) == 0) {
      return &kernels->kernels[i];
    }
  }
  return NULL;
}

static bool run(const char *name, const trap *t, uint64_t seed, char *message, size_t size) {
  static uint32_t memory[4096] __attribute__((aligned(64))); /* far apart: past one is not in the other */
  uint32_t *data = memory + 1024, *other = memory + 3072;
  void *buffers[SOFTMETAL_BUFFERS] = {data, t->aliased ? data : other};
  const size_t lengths[SOFTMETAL_BUFFERS] = {256, 256};
  const uint64_t constants[SOFTMETAL_CONSTANTS] = {0};
  const simulator_dispatch dispatch = {find(name), buffers, lengths, constants, 256, {t->threadgroups, 1, 1}, 64, seed};
  message[0] = '\0';
  return softmetal_simulator_run(&dispatch, message, size);
}

int main(void) {
  int failures = 0;
  for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); ++i) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const trap *t = &traps[i];
      char message[512];
      const bool legal = run(t->right, t, seed, message, sizeof(message));
      if (!legal) {
        printf("FAIL %s, seed %llu, is right but: %s\n", t->right, (unsigned long long)seed, message);
        failures += 1;
      }
      if (run(t->wrong, t, seed, message, sizeof(message))) {
        printf("FAIL %s, seed %llu, was not caught\n", t->wrong, (unsigned long long)seed);
        failures += 1;
      } else if (strstr(message, t->message) == NULL || strstr(message, t->wrong) == NULL || strstr(message, "thread ") == NULL) {
        printf("FAIL %s, seed %llu, says: %s\n", t->wrong, (unsigned long long)seed, message);
        failures += 1;
      } else if (seed == 0) {
        printf("ok %s\n", message);
      }
    }
  }
  return failures != 0;
}
