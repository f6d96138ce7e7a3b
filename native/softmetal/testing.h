/* Hooks for tests; not installed. What is set holds for devices opened afterwards, but for the seed and
 * failures, which hold at once. */
#ifndef SOFTMETAL_TESTING_H
#define SOFTMETAL_TESTING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOFTMETAL_TESTING __attribute__((visibility("default")))

/* The best instruction set to use ("avx512_bf16", "avx512", "avx2", "baseline"); NULL: the best that the CPU has. A
 * device cannot be opened with one that the CPU lacks. The string is copied. */
SOFTMETAL_TESTING void softmetal_testing_set_instruction_set(const char *name);
/* Bytes; 0: the default. */
SOFTMETAL_TESTING void softmetal_testing_set_max_buffer_length(uint64_t bytes);
/* Threads per threadgroup that pipelines allow at most; 0: the family's limit. */
SOFTMETAL_TESTING void softmetal_testing_set_max_threads(uint32_t threads);
/* Uncompleted command buffers that newCommandQueue's queues take; 0: Metal's 64. Holds at once. */
SOFTMETAL_TESTING void softmetal_testing_set_max_command_buffers(uint32_t count);
/* How often making a command buffer had to wait for an older one's completion, in this process. */
SOFTMETAL_TESTING uint64_t softmetal_testing_command_buffer_waits(void);
/* Whether newBufferWithBytesNoCopy gives nil for all memory. Holds at once. */
SOFTMETAL_TESTING void softmetal_testing_set_no_copy_refused(bool refused);
/* The major version of macOS whose optional selectors objects answer to; 0: the newest. Holds at once. */
SOFTMETAL_TESTING void softmetal_testing_set_macos(uint32_t version);
/* What the compiler says where compiling a library is the call that fails; NULL: nothing. Not copied. */
SOFTMETAL_TESTING void softmetal_testing_set_compile_log(const char *log);
/* What making a pipeline takes at least; 0: nothing. Holds at once. */
SOFTMETAL_TESTING void softmetal_testing_set_pipeline_milliseconds(uint32_t milliseconds);
/* A folder of stand-ins for compiled libraries: NAME.metallib is "MTLB" and the text of the library; NULL: none. Not
 * copied. */
SOFTMETAL_TESTING void softmetal_testing_set_metallibs(const char *folder);
/* Whether newBinaryArchiveWithDescriptor gives nil, as on a device without binary archives. Holds at once. */
SOFTMETAL_TESTING void softmetal_testing_set_archives_refused(bool refused);
/* Pipelines made that no binary archive held, in this process. */
SOFTMETAL_TESTING uint64_t softmetal_testing_pipelines_compiled(void);
/* What devices are called; NULL: as their family is. Not copied. */
SOFTMETAL_TESTING void softmetal_testing_set_device_name(const char *name);
/* Runs threadgroups in an order of the seed's; 0: in grid order. */
SOFTMETAL_TESTING void softmetal_testing_set_seed(uint64_t seed);

/* The n-th fallible Metal call from now fails (1: the next); 0: none. It returns nil, with an NSError
 * where it takes one; a commit's command buffer ends in an error with the failure code. */
SOFTMETAL_TESTING void softmetal_testing_fail_call(uint64_t n);
/* An MTLCommandBufferError; at first MTLCommandBufferErrorInternal. */
SOFTMETAL_TESTING void softmetal_testing_set_failure_code(int64_t code);
/* Fallible calls since the last fail_call. */
SOFTMETAL_TESTING uint64_t softmetal_testing_calls_made(void);

/* Objects alive in this process, autoreleased ones included. */
SOFTMETAL_TESTING int64_t softmetal_testing_live_objects(void);

#ifdef __cplusplus
}
#endif
#endif
