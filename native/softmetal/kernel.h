/* What a shader compiled by the C++ compiler hands to softmetal, and what softmetal hands to it. */
#ifndef SOFTMETAL_KERNEL_H
#define SOFTMETAL_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SOFTMETAL_BUFFERS = 31, SOFTMETAL_CONSTANTS = 16 };

/* One thread of a grid. At SIMD width 1 a threadgroup is one thread: an entry call runs it whole. */
typedef struct softmetal_thread {
  void *const *buffers;              /* [[buffer(n)]], offset added; setBytes' copies too */
  const uint64_t *constants;         /* [[function_constant(n)]], value in the low bytes */
  void *threadgroup_memory;          /* [[threadgroup(0)]] */
  uint32_t threadgroup_position[3];  /* [[threadgroup_position_in_grid]] */
  uint32_t lane;                     /* [[thread_index_in_simdgroup]] */
  uint32_t simdgroup;                /* [[simdgroup_index_in_threadgroup]] */
  uint32_t simdgroups;               /* [[simdgroups_per_threadgroup]] */
} softmetal_thread;

typedef void (*softmetal_entry)(const softmetal_thread *thread);

typedef struct softmetal_kernel {
  const char *name;
  softmetal_entry entry;
  uint32_t buffer_count;             /* buffers 0 .. buffer_count-1 must be bound */
  uint32_t constant_mask;            /* bit n: function constant n is declared */
  uint32_t max_threads;              /* per threadgroup; 0: the device's limit */
} softmetal_kernel;

/* The kernels of one library, compiled for one SIMD width and instruction set. `source` is the very
 * text that newLibraryWithSource: is given: what was not compiled ahead of time is a compile failure. */
typedef struct softmetal_library {
  const char *source;
  const char *instruction_set;       /* "baseline", "avx2", "avx512", "avx512_bf16"; "simulator" at width 32 */
  uint32_t simd_width;
  const softmetal_kernel *kernels;
  uint32_t kernel_count;
} softmetal_library;

/* Called from a constructor of the translation unit; `library` lives as long as the process. */
void softmetal_register_library(const softmetal_library *library);

#ifdef __cplusplus
}
#endif
#endif
