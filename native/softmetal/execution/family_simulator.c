/* Family simulator: its engine and kernels live in a shared object beside this library, since they
 * define the hooks of -fsanitize=thread; it is loaded when the first such device is opened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "execution/family.h"
#include "hooks.h"
#include "simulator/simulator.h"

static const char FILE_NAME[] = "libpagedrt_simulator.so";
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const softmetal_simulator *simulator;
static char load_error[256];

/* FILE_NAME in the folder that this library was loaded from. */
static bool file_path(char path[PATH_MAX]) {
  Dl_info self;
  if (dladdr((const void *)file_path, &self) == 0 || self.dli_fname == NULL) return false;
  const char *slash = strrchr(self.dli_fname, '/');
  int folder = slash != NULL ? (int)(slash + 1 - self.dli_fname) : 0;
  return snprintf(path, PATH_MAX, "%.*s%s", folder, self.dli_fname, FILE_NAME) < PATH_MAX;
}

static void load(void) {
  char path[PATH_MAX];
  void *object = file_path(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  const softmetal_simulator *(*open)(void) = NULL;
  if (object != NULL) *(void **)&open = dlsym(object, "softmetal_simulator_open");
  if (open == NULL) {
    const char *why = dlerror();
    snprintf(load_error, sizeof load_error, "cannot load %s: %s", FILE_NAME, why != NULL ? why : "no path to it");
    return;
  }
  simulator = open();
  for (uint32_t i = 0; i < simulator->library_count; i++) softmetal_register_library(simulator->libraries[i]);
}

static const char *const *instruction_sets(void) {
  static const char *const only[] = {"simulator", NULL};
  return only;
}

/* Always the whole dispatch: races are found between all of its threads. */
static bool run(const softmetal_dispatch *dispatch, uint64_t first, uint64_t count, void *threadgroup_memory,
                char message[FAMILY_MESSAGE]) {
  (void)first;
  (void)count;
  (void)threadgroup_memory; /* the engine has its own, which it fills with NaN */
  const uint32_t *threads = dispatch->threads;
  if (threads[1] != 1 || threads[2] != 1 || threads[0] % SIMULATOR_WIDTH != 0 ||
      dispatch->grid_threads[0] != dispatch->grid[0] * threads[0]) {
    snprintf(message, FAMILY_MESSAGE, "kernel %s: %u x %u x %u threads per threadgroup, the simulator runs whole SIMD-groups in one row",
             dispatch->kernel->name, threads[0], threads[1], threads[2]);
    return false;
  }
  void *buffers[SOFTMETAL_BUFFERS] = {NULL};
  size_t lengths[SOFTMETAL_BUFFERS] = {0};
  for (uint32_t i = 0; i < dispatch->kernel->buffer_count; i++) {
    buffers[i] = dispatch->buffers[i];
    lengths[i] = dispatch->lengths[i];
  }
  const simulator_dispatch all = {
    .kernel = dispatch->kernel,
    .buffers = buffers,
    .lengths = lengths,
    .constants = dispatch->constants,
    .threadgroup_length = dispatch->threadgroup_memory,
    .threadgroups = {dispatch->grid[0], dispatch->grid[1], dispatch->grid[2]},
    .threads = threads[0],
    .seed = softmetal_hook_seed(),
  };
  return simulator->run(&all, message, FAMILY_MESSAGE);
}

static const softmetal_family family = {
  .name = "simulator",
  .device_name = "softmetal simulator",
  .simd_width = SIMULATOR_WIDTH,
  .max_threads = SIMULATOR_MAX_THREADS,
  .whole_dispatches = true,
  .instruction_sets = instruction_sets,
  .run = run,
};

const softmetal_family *softmetal_family_simulator(const char **reason) {
  pthread_once(&once, load);
  if (simulator == NULL) *reason = load_error;
  return simulator != NULL ? &family : NULL;
}
