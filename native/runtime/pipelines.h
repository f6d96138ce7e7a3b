/* Compiled libraries and pipelines of a device, each built once. */
#ifndef PAGEDRT_PIPELINES_H
#define PAGEDRT_PIPELINES_H

#import <Metal/Metal.h>
#include <pthread.h>

#include "archive.h"
#include "kernels.h"
#include "pagedrt.h"

struct pagedrt_library {
  pagedrt_device *device; /* which owns it */
  kernel_kind kind;
  id<MTLLibrary> metal;
};

typedef struct pipeline {
  id<MTLComputePipelineState> state;
  uint32_t simd_width;  /* threadExecutionWidth */
  uint32_t max_threads; /* maxTotalThreadsPerThreadgroup */
  uint32_t static_memory;
} pipeline;

enum { PIPELINE_HEADS = 4 }; /* 1, 2, 4 or 8 query heads a SIMD-group */

typedef struct pipeline_cache {
  pthread_rwlock_t lock;   /* guards entries */
  pthread_mutex_t build;   /* held while something is compiled, so that lookups go on */
  pagedrt_library libraries[KERNEL_KINDS];
  pipeline_archive archive;
  pipeline *entries[KERNEL_INSTANCES][PIPELINE_HEADS];
} pipeline_cache;

bool pipelines_init(pipeline_cache *cache, pagedrt_device *device);
/* Writes the archive, where one was asked for. */
void pipelines_keep(pagedrt_device *device);
void pipelines_end(pipeline_cache *cache);
/* The pipeline lives as long as the device. heads: 1, 2, 4 or 8. */
pagedrt_status pipelines_get(pagedrt_device *device, const kernel_instance *instance, uint32_t heads, const pipeline **found);

#endif
