/* Pipelines kept in a file between processes: an MTLBinaryArchive, where it works. Where not, what it refuses is
 * counted and pipelines are compiled as without one. Used with the pipeline cache's build lock held. */
#ifndef PAGEDRT_ARCHIVE_H
#define PAGEDRT_ARCHIVE_H

#import <Metal/Metal.h>

#include "pagedrt.h"

typedef struct pipeline_archive {
  char *path;                 /* absolute; NULL: none was asked for */
  id<MTLBinaryArchive> metal; /* nil: none, or refused */
  bool loaded;                /* from the file, so that pipelines may be found in it */
  bool changed;               /* it holds what the file lacks */
} pipeline_archive;

/* PAGEDRT_INVALID_INPUT for what no file can be kept at. NULL is none. */
pagedrt_status archive_check_path(const char *path);
/* Loads the file, or makes an empty archive; the path has been checked. Fails only for want of memory. */
pagedrt_status archive_open(pagedrt_device *device, const char *path);
/* nil where the function's pipeline is not in it. */
id<MTLComputePipelineState> archive_find(pagedrt_device *device, id<MTLFunction> function) NS_RETURNS_RETAINED;
void archive_add(pagedrt_device *device, id<MTLFunction> function);
/* Replaces the file, whole or not at all, where anything was added since. */
void archive_save(pagedrt_device *device);
void archive_end(pipeline_archive *archive);

#endif
