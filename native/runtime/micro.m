/* Microbenchmarks: one kernel, dispatched over and over, waited for. */
#include "pagedrt_micro.h"

#include "arguments.h"
#include "arrays.h"
#include "device.h"
#include "errors.h"
#include "kernels.h"
#include "stream.h"

enum { MOST_DISPATCHES = 4096 }; /* keeps a command buffer far below any watchdog */

enum { MICRO_MEMORY, MICRO_PAGE_TABLE, MICRO_OUT, MICRO_ARRAYS };
_Static_assert(MICRO_MEMORY == PAGEDRT_MICRO_MEMORY && MICRO_PAGE_TABLE == PAGEDRT_MICRO_PAGE_TABLE, "");
_Static_assert(MICRO_OUT == PAGEDRT_MICRO_OUT && MICRO_ARRAYS == PAGEDRT_MICRO_ARGUMENTS, "");

static const char *const micro_names[MICRO_ARRAYS] = {"memory", "page_table", "out"};

static uint32_t most_simdgroups(const pipeline *pipeline) {
  return pipeline->max_threads / pipeline->simd_width;
}

static pagedrt_status check_counts(const pagedrt_micro_launch *launch, const pipeline *pipeline) {
  const struct {
    const char *name;
    uint64_t value, least, most;
  } counts[] = {
    {"threadgroups", launch->threadgroups, 1, UINT32_MAX},
    {"simdgroups", launch->simdgroups, 1, most_simdgroups(pipeline)},
    {"dispatches", launch->dispatches, 1, MOST_DISPATCHES},
    {"command_buffers", launch->command_buffers, 1, STREAM_SUBMISSIONS},
    {"page_capacity", launch->page_capacity, 1, UINT32_MAX},
    {"pages", launch->pages, 1, UINT32_MAX},
  };
  for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (counts[i].value < counts[i].least || counts[i].value > counts[i].most) {
      return error_set(PAGEDRT_INVALID_INPUT, "%s: %llu, expected %llu to %llu", counts[i].name,
                       (unsigned long long)counts[i].value, (unsigned long long)counts[i].least,
                       (unsigned long long)counts[i].most);
    }
  }
  uint32_t grain = LANE_LOAD_BYTES * PAGEDRT_MICRO_LOADS * pipeline->simd_width;
  if (launch->page_bytes == 0 || launch->page_bytes % grain != 0) {
    return error_set(PAGEDRT_INVALID_INPUT, "page_bytes: %u, expected a multiple of %u", launch->page_bytes, grain);
  }
  uint64_t words = (uint64_t)launch->threadgroups * pipeline->simd_width;
  if (launch->out_length != words) {
    return error_set(PAGEDRT_INVALID_INPUT, "out: %u words, expected threadgroups * SIMD width = %llu", launch->out_length,
                     (unsigned long long)words);
  }
  /* The kernel counts pages over all rounds, and a step beyond, in 32 bits. */
  uint64_t step = (uint64_t)launch->threadgroups * launch->simdgroups;
  if (step > UINT32_MAX || (uint64_t)launch->rounds * launch->pages > UINT32_MAX - step) {
    return error_set(PAGEDRT_INVALID_INPUT, "rounds: %u of %u pages and %u threadgroups of %u SIMD-groups, expected fewer than 2^32 in all",
                     launch->rounds, launch->pages, launch->threadgroups, launch->simdgroups);
  }
  return PAGEDRT_OK;
}

/* Called with the memory map's read lock held. */
static pagedrt_status find_arrays(pagedrt_device *device, const pagedrt_micro_launch *launch, const void *const pointers[MICRO_ARRAYS], pagedrt_buffer *buffers[MICRO_ARRAYS]) {
  const size_t lengths[MICRO_ARRAYS] = {
    [MICRO_MEMORY] = (size_t)launch->page_capacity * launch->page_bytes,
    [MICRO_PAGE_TABLE] = (size_t)launch->pages * sizeof(uint32_t),
    [MICRO_OUT] = (size_t)launch->out_length * sizeof(uint32_t),
  };
  for (int i = 0; i < MICRO_ARRAYS; i++) {
    uintptr_t alignment = i == MICRO_MEMORY ? LANE_LOAD_BYTES : sizeof(uint32_t);
    bool aligned = (uintptr_t)pointers[i] % alignment == 0;
    buffers[i] = aligned ? memory_map_find(&device->map, pointers[i], lengths[i], i == MICRO_OUT) : NULL;
    if (buffers[i] == NULL) {
      return error_set(PAGEDRT_INVALID_INPUT, "%s: %p + %zu bytes, expected to lie in one live%s buffer of the device, aligned to %u",
                       micro_names[i], pointers[i], lengths[i], i == MICRO_OUT ? " writable" : "", (unsigned)alignment);
    }
  }
  for (uint32_t i = 0; i < launch->pages; i++) {
    if (launch->page_table[i] >= launch->page_capacity) {
      return error_set(PAGEDRT_INVALID_INPUT, "page_table[%u] = %u: expected a page below page_capacity = %u", i,
                       launch->page_table[i], launch->page_capacity);
    }
  }
  return PAGEDRT_OK;
}

static void encode(id<MTLComputeCommandEncoder> encoder, const pipeline *pipeline, const pagedrt_micro_launch *launch, const void *const pointers[MICRO_ARRAYS], pagedrt_buffer *const buffers[MICRO_ARRAYS]) {
  NSUInteger threads = (NSUInteger)launch->simdgroups * pipeline->simd_width;
  NSUInteger slots = 2 * threads * sizeof(uint32_t); /* the barrier kernel's two sets */
  pagedrt_micro_arguments arguments = {
    .threadgroups = launch->threadgroups,
    .rounds = launch->rounds,
    .pages = launch->pages,
    .page_capacity = launch->page_capacity,
    .page_loads = launch->page_bytes / LANE_LOAD_BYTES,
  };
  [encoder setComputePipelineState:pipeline->state];
  for (unsigned i = 0; i < MICRO_ARRAYS; i++) {
    binding bound = buffer_binding(buffers[i], pointers[i]);
    [encoder setBuffer:bound.metal offset:bound.offset atIndex:i];
  }
  [encoder setBytes:&arguments length:sizeof arguments atIndex:PAGEDRT_MICRO_ARGUMENTS];
  [encoder setThreadgroupMemoryLength:(slots + 15) / 16 * 16 atIndex:0];
  for (uint32_t i = 0; i < launch->dispatches; i++) {
    [encoder dispatchThreadgroups:MTLSizeMake(launch->threadgroups, 1, 1) threadsPerThreadgroup:MTLSizeMake(threads, 1, 1)];
  }
}

static pagedrt_status submit(pagedrt_device *device, const pipeline *pipeline, const pagedrt_micro_launch *launch, pagedrt_stream *stream) {
  const void *pointers[MICRO_ARRAYS] = {launch->memory, launch->page_table, launch->out};
  pagedrt_buffer *buffers[MICRO_ARRAYS];
  call_site site = {0};
  pagedrt_status status = stream_begin(stream, NULL, &site);
  if (status != PAGEDRT_OK) return status;
  memory_map_read(&device->map);
  status = find_arrays(device, launch, pointers, buffers);
  if (status == PAGEDRT_OK) {
    encode(site.encoder, pipeline, launch, pointers, buffers);
    /* Nothing is ever wrong with its status: the record only holds buffers. */
    call_record record = {.page_table_buffer = buffers[MICRO_PAGE_TABLE], .dependency_buffer = buffers[MICRO_OUT]};
    stream_end(stream, &record, NULL, false);
    count_up(&device->counters.dispatches, launch->dispatches);
  } else {
    stream_abandon(stream);
  }
  memory_map_done(&device->map);
  return status;
}

/* Waits for what was submitted, also after a failure. */
static pagedrt_status run(pagedrt_device *device, const pipeline *pipeline, const pagedrt_micro_launch *launch, pagedrt_stream *stream) {
  pagedrt_status status = PAGEDRT_OK;
  for (uint32_t i = 0; i < launch->command_buffers && status == PAGEDRT_OK; i++) {
    status = submit(device, pipeline, launch, stream);
    if (status == PAGEDRT_OK) stream_commit(stream);
  }
  pagedrt_status finished = stream_finish(stream);
  return finished != PAGEDRT_OK ? finished : status;
}

/* The kernel's pipeline, which lives as long as the device. */
static pagedrt_status find_pipeline(pagedrt_device *device, const char *kernel, const pipeline **found) {
  if (kernel == NULL) return error_set(PAGEDRT_INVALID_INPUT, "kernel: NULL, expected a kernel's name");
  const kernel_instance *instance = kernel_find_micro(kernel);
  if (instance == NULL) {
    return error_set(PAGEDRT_INVALID_INPUT, "kernel: \"%s\", expected \"pagedrt_micro_read\", \"pagedrt_micro_barrier\" or \"pagedrt_micro_simd_sum\"", kernel);
  }
  return pipelines_get(device, instance, 1, found);
}

pagedrt_status pagedrt_micro_run(pagedrt_device *device, const char *kernel, const pagedrt_micro_launch *launch) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (launch == NULL) return error_set(PAGEDRT_INVALID_INPUT, "launch: NULL, expected what to run");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  const pipeline *pipeline = NULL;
  pagedrt_stream *stream = NULL;
  status = find_pipeline(device, kernel, &pipeline);
  if (status == PAGEDRT_OK) status = check_counts(launch, pipeline);
  if (status == PAGEDRT_OK) status = stream_borrow(device, &stream);
  if (status == PAGEDRT_OK) status = run(device, pipeline, launch, stream);
  if (stream != NULL) stream_give_back(stream);
  [pool drain];
  return status;
}

pagedrt_status pagedrt_micro_most_simdgroups(pagedrt_device *device, const char *kernel, uint32_t *simdgroups) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (simdgroups == NULL) return error_set(PAGEDRT_INVALID_INPUT, "simdgroups: NULL, expected a place for the number");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  const pipeline *pipeline = NULL;
  status = find_pipeline(device, kernel, &pipeline);
  if (status == PAGEDRT_OK) *simdgroups = most_simdgroups(pipeline);
  [pool drain];
  return status;
}
