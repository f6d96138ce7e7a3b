/* A Metal device with what all of its handles share.
 *
 * Lock order, outermost first; no lock is taken while one further down is held:
 *   scratch or plan -> stream (one at a time) -> memory map -> device lists
 *   pipeline build -> pipeline table
 * A stream's lock is dropped while its work is waited for. */
#ifndef PAGEDRT_DEVICE_H
#define PAGEDRT_DEVICE_H

#import <Metal/Metal.h>
#include <pthread.h>

#include "counters.h"
#include "memory_map.h"
#include "object.h"
#include "pagedrt.h"
#include "pipelines.h"

struct pagedrt_device {
  object object;
  id<MTLDevice> metal;
  char family[16], instruction_set[16];
  uint32_t worker_threads;
  uint32_t simd_width;
  uint32_t max_threadgroup_memory;
  size_t memory_page;
  size_t max_buffer_length;
  bool closed;
  pagedrt_stats counters;
  memory_map map;
  pipeline_cache pipelines;

  pthread_mutex_t lists; /* guards what follows, and every scratch's last output */
  pagedrt_stream *streams;
  pagedrt_stream *idle; /* of calls without a stream; the device's, so they do not hold it */
  pagedrt_scratch *scratches;
};

/* Forked, NULL or closed: a status and a message. */
pagedrt_status device_usable(pagedrt_device *device);

#endif
