/* pagedrt: paged-attention decode on a Metal device, for C and Cython.
 *
 * Every function that can fail returns a pagedrt_status and never raises, aborts or prints;
 * pagedrt_last_error() is the calling thread's message. Handles are opaque and may be used from
 * any thread. A handle keeps what it depends on alive, so handles may be destroyed in any order;
 * after pagedrt_device_close() every use of the device's handles but destroying, and reading its
 * stats, is an error.
 *
 * Shapes: queries and out [1, query_heads, 1, head_dim]; key_pages and value_pages
 * [kv_heads, page_capacity, page_size, head_dim]; page_table uint32 [page_table_length];
 * dependency uint32 [1], the number of valid tokens, read by the kernel when it runs.
 * Query head h reads KV head h / (query_heads / kv_heads); token t is slot t % page_size of
 * page page_table[t / page_size].
 */
#ifndef PAGEDRT_H
#define PAGEDRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAGEDRT_API __attribute__((visibility("default")))

typedef enum pagedrt_status {
  PAGEDRT_OK = 0,
  PAGEDRT_INVALID_INPUT = 1,
  PAGEDRT_DEVICE_ERROR = 2,
  PAGEDRT_OUT_OF_MEMORY = 3
} pagedrt_status;

typedef enum pagedrt_dtype {
  PAGEDRT_FLOAT32 = 0,
  PAGEDRT_FLOAT16 = 1,
  PAGEDRT_BFLOAT16 = 2
} pagedrt_dtype;

typedef struct pagedrt_device pagedrt_device;   /* id<MTLDevice>, pipelines, memory, counters */
typedef struct pagedrt_stream pagedrt_stream;   /* id<MTLCommandQueue> and its open command buffer */
typedef struct pagedrt_buffer pagedrt_buffer;   /* id<MTLBuffer>, owned or wrapped */
typedef struct pagedrt_library pagedrt_library; /* id<MTLLibrary> */
typedef struct pagedrt_scratch pagedrt_scratch; /* partials, sums, maximums behind one lock */
typedef struct pagedrt_plan pagedrt_plan;       /* fixed geometry, prepared dispatches, own scratch */
typedef struct pagedrt_dispatch pagedrt_dispatch; /* pipeline, grid, threadgroup, fixed once */

/* The calling thread's last error message; "" before any. Valid until its next failing call. */
PAGEDRT_API const char *pagedrt_last_error(void);
/* "major.minor.patch" of the library. */
PAGEDRT_API const char *pagedrt_version(void);

/* --- device ----------------------------------------------------------------------------- */

typedef struct pagedrt_device_info {
  char family[16];              /* "metal", "cpu" or "simulator" */
  char name[64];                /* the Metal device's name */
  char instruction_set[16];     /* of the cpu family's kernels: "baseline", "avx2", ...; else "" */
  uint32_t simd_width;          /* threadExecutionWidth of the kernels */
  uint32_t max_threads;         /* per threadgroup, device limit */
  uint32_t worker_threads;      /* of software Metal; 0 in family metal */
  uint64_t max_buffer_length;   /* bytes */
  uint64_t working_set;         /* recommendedMaxWorkingSetSize, bytes */
  uint64_t memory_page;         /* bytes; base and length of a wrapped output are multiples of it */
} pagedrt_device_info;

typedef struct pagedrt_stats {
  uint64_t one_pass, two_pass;  /* calls encoded by path */
  uint64_t dispatches, command_buffers, waits;
  uint64_t copies, copied_bytes; /* arrays copied because the device could not use them in place */
  uint64_t pipelines_built, scratch_prepares;
  uint64_t gpu_nanoseconds; /* from GPU start to end, of the command buffers that were waited for */
  uint64_t libraries_loaded, libraries_compiled; /* from a prebuilt metallib; from text */
  uint64_t archive_hits, archive_added; /* pipelines found in pipeline_archive; compiled and added to it */
  uint64_t archive_refused; /* archives and pipelines that the device would not load, make or add */
  uint64_t archive_unsaved; /* writes of the file that failed */
} pagedrt_stats;

/* Families this build knows, best first, NULL-terminated; a known one may still fail to open. */
PAGEDRT_API const char *const *pagedrt_families(void);
/* family: NULL takes the best that opens. threads: workers of software Metal, at most 1024, 0 for one
 * a core; 0 in family metal. */
PAGEDRT_API pagedrt_status pagedrt_device_create(const char *family, uint32_t threads, pagedrt_device **device);

typedef struct pagedrt_device_options {
  const char *family;           /* as of pagedrt_device_create */
  uint32_t threads;
  const char *pipeline_archive; /* NULL: none. A file, UTF-8, that keeps compiled pipelines from process to process */
} pagedrt_device_options;

/* As pagedrt_device_create, with more to choose. Pipelines that the file of pipeline_archive holds are not
 * compiled anew, others are added to it; it is replaced whole when the device closes, if any was. Where
 * the file cannot be used or written, or the device has no binary archives, pipelines are compiled as
 * without one and the stats say so. */
PAGEDRT_API pagedrt_status pagedrt_device_open(const pagedrt_device_options *options, pagedrt_device **device);
/* Finishes the work in flight; later uses fail with PAGEDRT_DEVICE_ERROR. Idempotent. */
PAGEDRT_API pagedrt_status pagedrt_device_close(pagedrt_device *device);
PAGEDRT_API void pagedrt_device_destroy(pagedrt_device *device);
PAGEDRT_API pagedrt_status pagedrt_device_get_info(pagedrt_device *device, pagedrt_device_info *info);
PAGEDRT_API pagedrt_status pagedrt_device_get_stats(pagedrt_device *device, pagedrt_stats *stats);
/* name: "sdpa_one_pass", "sdpa_partial", "sdpa_reduce" or "micro". The library belongs to the device. */
PAGEDRT_API pagedrt_status pagedrt_device_library(pagedrt_device *device, const char *name, pagedrt_library **library);

/* --- buffer: memory the device can use in place ------------------------------------------ */

/* Page-aligned memory owned by the runtime; what it holds is not defined. */
PAGEDRT_API pagedrt_status pagedrt_buffer_create(pagedrt_device *device, size_t length, pagedrt_buffer **buffer);
/* Adopts foreign memory in place; it must stay mapped until pagedrt_buffer_destroy returns (which
 * waits for the device to be done with it). writable needs pointer and length to be multiples of
 * memory_page, since CPU and GPU must not write one page at a time; readable memory may lie
 * anywhere. PAGEDRT_INVALID_INPUT where this memory cannot be adopted: copy it instead. */
PAGEDRT_API pagedrt_status pagedrt_buffer_wrap(pagedrt_device *device, void *pointer, size_t length, bool writable, pagedrt_buffer **buffer);
PAGEDRT_API void *pagedrt_buffer_contents(pagedrt_buffer *buffer);
PAGEDRT_API size_t pagedrt_buffer_length(pagedrt_buffer *buffer);
PAGEDRT_API void pagedrt_buffer_destroy(pagedrt_buffer *buffer);
/* Counts a copy that a binding made on the device's behalf. */
PAGEDRT_API void pagedrt_device_count_copy(pagedrt_device *device, size_t bytes);
/* True if [pointer, pointer + length) lies in one live buffer (a writable one, if so asked). */
PAGEDRT_API bool pagedrt_device_owns(pagedrt_device *device, const void *pointer, size_t length, bool writable);

/* --- stream: calls in order, many to a command buffer ------------------------------------- */

PAGEDRT_API pagedrt_status pagedrt_stream_create(pagedrt_device *device, pagedrt_stream **stream);
/* Commits what is open and waits for all of it. The first failure since the last synchronize
 * (a bad page id, dependency[0] > context_tokens, a failed command buffer) is returned, once. */
PAGEDRT_API pagedrt_status pagedrt_stream_synchronize(pagedrt_stream *stream);
/* Commits and waits as synchronize does, but keeps failures for the next synchronize. */
PAGEDRT_API pagedrt_status pagedrt_stream_drain(pagedrt_stream *stream);
/* Synchronizes; later uses fail. Idempotent. */
PAGEDRT_API pagedrt_status pagedrt_stream_close(pagedrt_stream *stream);
PAGEDRT_API void pagedrt_stream_destroy(pagedrt_stream *stream);

/* --- one call ----------------------------------------------------------------------------- */

typedef struct pagedrt_geometry {
  uint32_t query_heads, kv_heads, head_dim, page_size;
  pagedrt_dtype dtype;
  float scale;
} pagedrt_geometry;

typedef struct pagedrt_call {
  const void *queries, *key_pages, *value_pages;
  const uint32_t *page_table;
  const uint32_t *dependency;
  void *out;
  uint32_t page_capacity, page_table_length;
  uint32_t context_tokens;      /* the bound: dependency[0] must not exceed it; at most 2^31 - 1 */
} pagedrt_call;

/* How a call is laid over the device; pagedrt.heuristics chooses it. blocks 0 takes the one-pass
 * kernel, else partial over that many splits, then reduce. heads and simdgroups are of the one-pass
 * or partial kernel, and 0 lets the runtime pick: heads is 1, 2, 4 or 8, less than twice
 * query_heads / kv_heads; simdgroups as many as the pipeline's threads and the device's threadgroup
 * memory allow. Results depend on it, within their error bound. */
typedef struct pagedrt_layout {
  uint32_t blocks;
  uint32_t heads;      /* query heads a SIMD-group */
  uint32_t simdgroups; /* SIMD-groups a threadgroup */
} pagedrt_layout;

/* Runs one call. layout NULL: one-pass, as the runtime picks. Arrays may lie anywhere: what the
 * device cannot use in place is copied and counted. scratch NULL uses the stream's own, without a
 * stream one of the device's. stream NULL scans page ids and dependency first
 * (PAGEDRT_INVALID_INPUT, out untouched) and waits for the result; with a stream the arrays must
 * live until it is synchronized. */
PAGEDRT_API pagedrt_status pagedrt_paged_attention(pagedrt_device *device, const pagedrt_geometry *geometry, const pagedrt_layout *layout, const pagedrt_call *call, pagedrt_scratch *scratch, pagedrt_stream *stream);

/* --- plan: the prepared path ---------------------------------------------------------------- */

/* Contexts of at most context_tokens, and more than the previous split's, are laid out so. */
typedef struct pagedrt_split {
  uint32_t context_tokens;
  pagedrt_layout layout;
} pagedrt_split;

/* splits ascend; the last one's context_tokens is the plan's limit. All buffers are made here. */
PAGEDRT_API pagedrt_status pagedrt_plan_create(pagedrt_device *device, const pagedrt_geometry *geometry, const pagedrt_split *splits, uint32_t split_count, pagedrt_plan **plan);
/* Arrays must lie in the device's live buffers. No allocation, no host scan of array contents.
 * stream NULL waits for the result. */
PAGEDRT_API pagedrt_status pagedrt_plan_run(pagedrt_plan *plan, const pagedrt_call *call, pagedrt_stream *stream);
/* Later runs fail; the plan's memory goes back once the runs made before are done. Idempotent. */
PAGEDRT_API pagedrt_status pagedrt_plan_close(pagedrt_plan *plan);
PAGEDRT_API void pagedrt_plan_destroy(pagedrt_plan *plan);

/* --- scratch: prepare, partial, reduce, update under a lock ----------------------------------- */

typedef struct pagedrt_scratch_spec {
  uint32_t query_heads, kv_heads, blocks, head_dim, page_size;
  uint32_t scale_bits;          /* the float's bits, so that equality is exact */
  pagedrt_dtype dtype;
  uint32_t heads, simdgroups;   /* of the partial kernel; 0 lets the runtime pick */
} pagedrt_scratch_spec;

typedef struct pagedrt_slice {
  pagedrt_buffer *buffer;
  size_t offset;                /* bytes */
} pagedrt_slice;

typedef struct pagedrt_output_spec {
  uint32_t shape[4];
  pagedrt_dtype dtype;
} pagedrt_output_spec;

PAGEDRT_API pagedrt_status pagedrt_scratch_create(pagedrt_device *device, pagedrt_scratch **scratch);
PAGEDRT_API void pagedrt_scratch_destroy(pagedrt_scratch *scratch);
/* The four verbs are called between lock and unlock, by the thread that holds the lock. */
PAGEDRT_API pagedrt_status pagedrt_scratch_lock(pagedrt_scratch *scratch);
PAGEDRT_API pagedrt_status pagedrt_scratch_unlock(pagedrt_scratch *scratch);
/* Does nothing when spec is the prepared one, else allocates partials, sums and maximums and
 * builds the partial and reduce dispatches. */
PAGEDRT_API pagedrt_status pagedrt_scratch_prepare(pagedrt_scratch *scratch, const pagedrt_scratch_spec *spec, pagedrt_stream *stream, pagedrt_library *library, const char *function);
/* The prepared partial kernel and [partials, sums, maximums, barrier]; barrier is the previous
 * call's output, or dependency on the first call after prepare. */
PAGEDRT_API pagedrt_status pagedrt_scratch_partial(pagedrt_scratch *scratch, pagedrt_slice dependency, const pagedrt_dispatch **kernel, pagedrt_slice slices[4]);
PAGEDRT_API pagedrt_status pagedrt_scratch_reduce(pagedrt_scratch *scratch, const pagedrt_dispatch **kernel, pagedrt_output_spec *output);
/* Stores the new state; the scratch holds output.buffer until the next update or its end. */
PAGEDRT_API pagedrt_status pagedrt_scratch_update(pagedrt_scratch *scratch, const pagedrt_slice slices[3], pagedrt_slice output);
/* The partial kernel's function for a head_dim and dtype; any other pair is an error. */
PAGEDRT_API pagedrt_status pagedrt_partial_function(uint32_t head_dim, pagedrt_dtype dtype, const char **function);

#ifdef __cplusplus
}
#endif
#endif
