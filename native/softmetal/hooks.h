/* What testing.h has set, as the rest of softmetal reads it. */
#ifndef SOFTMETAL_HOOKS_H
#define SOFTMETAL_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

extern bool softmetal_hook_counting;
bool softmetal_hook_count_call(void);

/* Whether this fallible call is to fail. */
static inline bool softmetal_hook_fails(void) {
  return __atomic_load_n(&softmetal_hook_counting, __ATOMIC_RELAXED) && softmetal_hook_count_call();
}

int64_t softmetal_hook_failure_code(void);
void softmetal_hook_count_command_buffer_wait(void);
/* NULL, 0 or false where nothing was set. */
const char *softmetal_hook_instruction_set(void);
uint64_t softmetal_hook_max_buffer_length(void);
uint32_t softmetal_hook_max_threads(void);
uint32_t softmetal_hook_max_command_buffers(void);
bool softmetal_hook_no_copy_refused(void);
uint64_t softmetal_hook_seed(void);
uint32_t softmetal_hook_pipeline_milliseconds(void);
/* The newest macOS where nothing was set. */
uint32_t softmetal_hook_macos(void);
/* NULL where nothing was set. */
const char *softmetal_hook_metallibs(void);
const char *softmetal_hook_device_name(void);
bool softmetal_hook_archives_refused(void);
void softmetal_hook_count_compiled_pipeline(void);
/* "" where nothing was set. */
const char *softmetal_hook_compile_log(void);

#endif
