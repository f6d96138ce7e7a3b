/* Family cpu: a SIMD-group is one thread, a threadgroup is one SIMD-group, an entry call runs it whole. */
#include "execution/family.h"
#include "execution/instruction_sets.h"
#include "hooks.h"

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* How far apart threadgroups run one after the other lie: 1, or what a test's seed makes of it. */
static uint64_t stride_of(uint64_t threadgroups) {
  uint64_t seed = softmetal_hook_seed();
  if (seed == 0 || threadgroups < 3) return 1;
  uint64_t stride = seed % threadgroups;
  while (stride == 0 || greatest_common_divisor(stride, threadgroups) != 1) stride = stride + 1 == threadgroups ? 1 : stride + 1;
  return stride;
}

static void place(softmetal_thread *thread, const softmetal_dispatch *dispatch, uint64_t index) {
  thread->threadgroup_position[0] = (uint32_t)(index % dispatch->grid[0]);
  index /= dispatch->grid[0];
  thread->threadgroup_position[1] = (uint32_t)(index % dispatch->grid[1]);
  thread->threadgroup_position[2] = (uint32_t)(index / dispatch->grid[1]);
}

static bool run(const softmetal_dispatch *dispatch, uint64_t first, uint64_t count, void *threadgroup_memory,
                char message[FAMILY_MESSAGE]) {
  (void)message; /* nothing is checked here: the simulator is for that */
  softmetal_thread thread = {
    .buffers = dispatch->buffers,
    .constants = dispatch->constants,
    .threadgroup_memory = threadgroup_memory,
    .simdgroups = 1,
  };
  softmetal_entry entry = dispatch->kernel->entry;
  uint64_t stride = stride_of(dispatch->threadgroups);
  for (uint64_t i = first; i < first + count; i++) {
    place(&thread, dispatch, stride == 1 ? i : (uint64_t)((unsigned __int128)i * stride % dispatch->threadgroups));
    entry(&thread);
  }
  return true;
}

const softmetal_family softmetal_family_cpu = {
  .name = "cpu",
  .device_name = "softmetal cpu",
  .simd_width = 1,
  .max_threads = 1,
  .instruction_sets = softmetal_instruction_sets,
  .run = run,
};
