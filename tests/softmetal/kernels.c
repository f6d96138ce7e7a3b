#include "kernels.h"

#include <time.h>

#include "kernel.h"

static void nothing(const softmetal_thread *thread) {
  (void)thread;
}

static void add(const softmetal_thread *thread) {
  float *sums = thread->buffers[0];
  sums[thread->threadgroup_position[0]] += *(const float *)thread->buffers[1];
}

static void position(const softmetal_thread *thread) {
  uint32_t *out = thread->buffers[0];
  const uint32_t *size = thread->buffers[1], *at = thread->threadgroup_position;
  uint64_t index = ((uint64_t)at[2] * size[1] + at[1]) * size[0] + at[0];
  for (int i = 0; i < 3; i++) out[3 * index + i] += at[i] + 1;
}

static void constants(const softmetal_thread *thread) {
  uint64_t *out = thread->buffers[0];
  out[0] = thread->constants[0];
  out[1] = thread->constants[1];
}

static void gate(const softmetal_thread *thread) {
  uint32_t *words = thread->buffers[0];
  const struct timespec pause = {0, 200000};
  while (__atomic_load_n(&words[0], __ATOMIC_ACQUIRE) == 0) nanosleep(&pause, 0);
  __atomic_store_n(&words[1], 1, __ATOMIC_RELEASE);
}

static void append(const softmetal_thread *thread) {
  uint32_t *log = thread->buffers[0];
  log[++log[0]] = *(const uint32_t *)thread->buffers[1];
}

static void series(const softmetal_thread *thread) {
  float *out = thread->buffers[0];
  uint32_t terms = *(const uint32_t *)thread->buffers[1], group = thread->threadgroup_position[0];
  float sum = 0;
  for (uint32_t i = 1; i <= terms; i++) sum += 1.0f / (float)(i + group);
  out[group] = sum;
}

static void memory(const softmetal_thread *thread) {
  volatile uint32_t *words = thread->threadgroup_memory;
  uint32_t *out = thread->buffers[0], group = thread->threadgroup_position[0], good = 1;
  for (uint32_t i = 0; i < 8192; i++) words[i] = group + i;
  for (uint32_t i = 0; i < 8192; i++) good &= words[i] == group + i;
  out[group] = good;
}

static void level_1(const softmetal_thread *thread) { *(uint32_t *)thread->buffers[0] = 1; }
static void level_2(const softmetal_thread *thread) { *(uint32_t *)thread->buffers[0] = 2; }
static void level_3(const softmetal_thread *thread) { *(uint32_t *)thread->buffers[0] = 3; }

static const softmetal_kernel kernels[] = {
  {"add", add, 2, 0, 0},       {"position", position, 2, 0, 0}, {"constants", constants, 1, 3, 0}, {"gate", gate, 1, 0, 0},
  {"append", append, 2, 0, 0}, {"series", series, 2, 0, 0},     {"memory", memory, 1, 0, 0},       {"nothing", nothing, 0, 0, 0},
};
static const softmetal_kernel levels[] = {
  {"level", level_1, 1, 0, 0}, {"level", level_2, 1, 0, 0}, {"level", level_3, 1, 0, 0},
};
static const softmetal_library libraries[] = {
  {TEST_SOURCE, "baseline", 1, kernels, 8},
  {TEST_LEVELS_SOURCE, "avx2", 1, &levels[1], 1},
  {TEST_LEVELS_SOURCE, "avx512", 1, &levels[2], 1},
  {TEST_LEVELS_SOURCE, "baseline", 1, &levels[0], 1},
  {TEST_WIDE_SOURCE, "simulator", 32, levels, 1},
};

__attribute__((constructor)) static void register_all(void) {
  for (int i = 0; i < 5; i++) softmetal_register_library(&libraries[i]);
}
