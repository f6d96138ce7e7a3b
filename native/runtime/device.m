#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "fork.h"
#include "geometry.h"
#include "platform.h"
#include "stream.h"

static void device_dispose(void *self) {
  pagedrt_device *device = self;
  streams_end(device);
  pipelines_keep(device);
  pipelines_end(&device->pipelines);
  memory_map_end(&device->map);
  pthread_mutex_destroy(&device->lists);
  [device->metal release];
  free(device);
}

static bool init_locks(pagedrt_device *device) {
  if (!memory_map_init(&device->map)) return false;
  if (pthread_mutex_init(&device->lists, NULL) == 0) {
    if (pipelines_init(&device->pipelines, device)) return true;
    pthread_mutex_destroy(&device->lists);
  }
  memory_map_end(&device->map);
  return false;
}

/* Takes over `metal`. */
static pagedrt_status device_around(id<MTLDevice> metal, const char *family, pagedrt_device **out) {
  pagedrt_device *device = calloc(1, sizeof *device);
  if (device == NULL || !init_locks(device)) {
    free(device);
    [metal release];
    return error_set(PAGEDRT_OUT_OF_MEMORY, "device: no memory for its handle");
  }
  object_init(&device->object, device_dispose);
  device->metal = metal;
  snprintf(device->family, sizeof device->family, "%s", family);
  device->memory_page = (size_t)sysconf(_SC_PAGESIZE);
  device->max_buffer_length = [metal maxBufferLength];
  device->max_threadgroup_memory = (uint32_t)[metal maxThreadgroupMemoryLength];
  *out = device;
  return PAGEDRT_OK;
}

/* Builds the smallest pipeline: it tells the SIMD width, and a device that compiles nothing is no use. */
static pagedrt_status probe_width(pagedrt_device *device) {
  const pipeline *pipeline = NULL;
  pagedrt_status status = pipelines_get(device, kernel_find(KERNEL_reduce, 0, PAGEDRT_FLOAT32), 1, &pipeline);
  if (status == PAGEDRT_OK) device->simd_width = pipeline->simd_width;
  return status;
}

static pagedrt_status device_open(const char *family, const pagedrt_device_options *options, pagedrt_device **out) {
  const char *instruction_set = "", *reason = "no reason given";
  uint32_t threads_used = 0;
  id<MTLDevice> metal = pagedrt_platform_device(family, options->threads, &threads_used, &instruction_set, &reason);
  if (metal == nil) return error_set(PAGEDRT_DEVICE_ERROR, "family \"%s\": %s", family, reason);
  pagedrt_device *device = NULL;
  pagedrt_status status = device_around(metal, family, &device);
  if (status != PAGEDRT_OK) return status;
  snprintf(device->instruction_set, sizeof device->instruction_set, "%s", instruction_set);
  device->worker_threads = threads_used;
  status = archive_open(device, options->pipeline_archive);
  if (status == PAGEDRT_OK) status = probe_width(device);
  if (status != PAGEDRT_OK) {
    object_release(device);
    return status;
  }
  *out = device;
  return PAGEDRT_OK;
}

static bool family_known(const char *family) {
  return strcmp(family, "metal") == 0 || strcmp(family, "cpu") == 0 || strcmp(family, "simulator") == 0;
}

const char *const *pagedrt_families(void) {
  return pagedrt_platform_families;
}

pagedrt_status pagedrt_device_create(const char *family, uint32_t threads, pagedrt_device **device) {
  const pagedrt_device_options options = {.family = family, .threads = threads};
  return pagedrt_device_open(&options, device);
}

static pagedrt_status check_options(const pagedrt_device_options *options) {
  if (options->family != NULL && !family_known(options->family)) {
    return error_set(PAGEDRT_INVALID_INPUT, "family: \"%s\", expected \"metal\", \"cpu\" or \"simulator\"", options->family);
  }
  if (options->threads > pagedrt_platform_most_threads) {
    return error_set(PAGEDRT_INVALID_INPUT, "threads: %u, expected at most %u, the workers that a device takes here", options->threads,
                     pagedrt_platform_most_threads);
  }
  return archive_check_path(options->pipeline_archive);
}

pagedrt_status pagedrt_device_open(const pagedrt_device_options *options, pagedrt_device **device) {
  pagedrt_status status = fork_check();
  if (status == PAGEDRT_OK) status = fork_watch();
  if (status != PAGEDRT_OK) return status;
  if (device == NULL) return error_set(PAGEDRT_INVALID_INPUT, "device: NULL, expected a place for the handle");
  if (options == NULL) return error_set(PAGEDRT_INVALID_INPUT, "options: NULL, expected what the device is to be");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  status = check_options(options);
  if (status == PAGEDRT_OK && options->family != NULL) {
    status = device_open(options->family, options, device);
  } else if (status == PAGEDRT_OK) {
    status = error_set(PAGEDRT_DEVICE_ERROR, "this build has no device family");
    for (const char *const *best = pagedrt_platform_families; *best != NULL; best++) {
      status = device_open(*best, options, device);
      if (status == PAGEDRT_OK) break;
    }
  }
  [pool drain];
  return status;
}

pagedrt_status device_usable(pagedrt_device *device) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (device == NULL) return error_set(PAGEDRT_INVALID_INPUT, "device: NULL, expected a device");
  if (flag_get(&device->closed)) return error_set(PAGEDRT_DEVICE_ERROR, "device is closed");
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_device_close(pagedrt_device *device) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (device == NULL) return error_set(PAGEDRT_INVALID_INPUT, "device: NULL, expected a device");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  flag_set(&device->closed);
  status = streams_close(device);
  pipelines_keep(device);
  [pool drain];
  return status;
}

void pagedrt_device_destroy(pagedrt_device *device) {
  if (device == NULL || fork_happened()) return;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  object_release(device);
  [pool drain];
}

pagedrt_status pagedrt_device_get_info(pagedrt_device *device, pagedrt_device_info *info) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (info == NULL) return error_set(PAGEDRT_INVALID_INPUT, "info: NULL, expected a place for it");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  *info = (pagedrt_device_info){
    .simd_width = device->simd_width,
    .max_threads = (uint32_t)[device->metal maxThreadsPerThreadgroup].width,
    .worker_threads = device->worker_threads,
    .max_buffer_length = device->max_buffer_length,
    .working_set = [device->metal recommendedMaxWorkingSetSize],
    .memory_page = device->memory_page,
  };
  snprintf(info->family, sizeof info->family, "%s", device->family);
  snprintf(info->name, sizeof info->name, "%s", [[device->metal name] UTF8String]);
  snprintf(info->instruction_set, sizeof info->instruction_set, "%s", device->instruction_set);
  [pool drain];
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_device_get_stats(pagedrt_device *device, pagedrt_stats *stats) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (device == NULL) return error_set(PAGEDRT_INVALID_INPUT, "device: NULL, expected a device");
  if (stats == NULL) return error_set(PAGEDRT_INVALID_INPUT, "stats: NULL, expected a place for them");
  const pagedrt_stats *counters = &device->counters;
  *stats = (pagedrt_stats){
    count_read(&counters->one_pass),        count_read(&counters->two_pass),
    count_read(&counters->dispatches),      count_read(&counters->command_buffers),
    count_read(&counters->waits),           count_read(&counters->copies),
    count_read(&counters->copied_bytes),    count_read(&counters->pipelines_built),
    count_read(&counters->scratch_prepares), count_read(&counters->gpu_nanoseconds),
    count_read(&counters->libraries_loaded), count_read(&counters->libraries_compiled),
    count_read(&counters->archive_hits),    count_read(&counters->archive_added),
    count_read(&counters->archive_refused), count_read(&counters->archive_unsaved),
  };
  return PAGEDRT_OK;
}

void pagedrt_device_count_copy(pagedrt_device *device, size_t bytes) {
  if (device == NULL) return;
  count_up(&device->counters.copies, 1);
  count_up(&device->counters.copied_bytes, bytes);
}
