#include "testing.h"

#include <stdio.h>

#include "execution/thread.h"
#include "hooks.h"

bool softmetal_hook_counting;

static char instruction_set[16];
static uint64_t max_buffer_length, seed, calls, failing_call, command_buffer_waits, pipelines_compiled;
static uint32_t max_threads, max_command_buffers, macos, pipeline_milliseconds;
static bool no_copy_refused, archives_refused;
static const char *compile_log, *metallibs, *device_name;
static int64_t failure_code = 1; /* MTLCommandBufferErrorInternal */

void softmetal_testing_set_instruction_set(const char *name) {
  snprintf(instruction_set, sizeof instruction_set, "%s", name != NULL ? name : "");
}

const char *softmetal_hook_instruction_set(void) {
  return instruction_set[0] != 0 ? instruction_set : NULL;
}

void softmetal_testing_set_max_buffer_length(uint64_t bytes) {
  max_buffer_length = bytes;
}

uint64_t softmetal_hook_max_buffer_length(void) {
  return max_buffer_length;
}

void softmetal_testing_set_max_threads(uint32_t threads) {
  max_threads = threads;
}

uint32_t softmetal_hook_max_threads(void) {
  return max_threads;
}

void softmetal_testing_set_max_command_buffers(uint32_t count) {
  max_command_buffers = count;
}

uint32_t softmetal_hook_max_command_buffers(void) {
  return max_command_buffers;
}

void softmetal_hook_count_command_buffer_wait(void) {
  __atomic_fetch_add(&command_buffer_waits, 1, __ATOMIC_RELAXED);
}

uint64_t softmetal_testing_command_buffer_waits(void) {
  return __atomic_load_n(&command_buffer_waits, __ATOMIC_RELAXED);
}

void softmetal_testing_set_no_copy_refused(bool refused) {
  no_copy_refused = refused;
}

bool softmetal_hook_no_copy_refused(void) {
  return no_copy_refused;
}

void softmetal_testing_set_macos(uint32_t version) {
  macos = version;
}

uint32_t softmetal_hook_macos(void) {
  return macos != 0 ? macos : UINT32_MAX;
}

void softmetal_testing_set_compile_log(const char *log) {
  compile_log = log;
}

const char *softmetal_hook_compile_log(void) {
  return compile_log != NULL ? compile_log : "";
}

void softmetal_testing_set_pipeline_milliseconds(uint32_t milliseconds) {
  __atomic_store_n(&pipeline_milliseconds, milliseconds, __ATOMIC_RELAXED);
}

uint32_t softmetal_hook_pipeline_milliseconds(void) {
  return __atomic_load_n(&pipeline_milliseconds, __ATOMIC_RELAXED);
}

void softmetal_testing_set_metallibs(const char *folder) {
  metallibs = folder;
}

const char *softmetal_hook_metallibs(void) {
  return metallibs;
}

void softmetal_testing_set_device_name(const char *name) {
  device_name = name;
}

const char *softmetal_hook_device_name(void) {
  return device_name;
}

void softmetal_testing_set_archives_refused(bool refused) {
  archives_refused = refused;
}

bool softmetal_hook_archives_refused(void) {
  return archives_refused;
}

void softmetal_hook_count_compiled_pipeline(void) {
  __atomic_fetch_add(&pipelines_compiled, 1, __ATOMIC_RELAXED);
}

uint64_t softmetal_testing_pipelines_compiled(void) {
  return __atomic_load_n(&pipelines_compiled, __ATOMIC_RELAXED);
}

void softmetal_testing_set_seed(uint64_t value) {
  __atomic_store_n(&seed, value, __ATOMIC_RELAXED);
}

uint64_t softmetal_hook_seed(void) {
  return __atomic_load_n(&seed, __ATOMIC_RELAXED);
}

void softmetal_testing_fail_call(uint64_t n) {
  __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&failing_call, n, __ATOMIC_RELAXED);
  __atomic_store_n(&softmetal_hook_counting, true, __ATOMIC_RELAXED);
}

bool softmetal_hook_count_call(void) {
  uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  return call == __atomic_load_n(&failing_call, __ATOMIC_RELAXED);
}

uint64_t softmetal_testing_calls_made(void) {
  return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

void softmetal_testing_set_failure_code(int64_t code) {
  __atomic_store_n(&failure_code, code, __ATOMIC_RELAXED);
}

int64_t softmetal_hook_failure_code(void) {
  return __atomic_load_n(&failure_code, __ATOMIC_RELAXED);
}

int64_t softmetal_testing_live_objects(void) {
  return softmetal_thread_live_objects();
}
