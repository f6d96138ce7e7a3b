#include "archive.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "errors.h"

static const char suffix[] = ".XXXXXX"; /* of what is written beside the file, in mkstemp's spelling */

/* What a path is from the root on; NULL where it is too long or there is no memory. To be freed. */
static char *absolute(const char *path) {
  char folder[PATH_MAX] = "";
  if (path[0] != '/' && getcwd(folder, sizeof folder) == NULL) return NULL;
  char *whole = malloc(PATH_MAX);
  if (whole == NULL) return NULL;
  int length = snprintf(whole, PATH_MAX, "%s%s%s", folder, path[0] != '/' ? "/" : "", path);
  if (length + sizeof suffix <= PATH_MAX) return whole;
  free(whole);
  return NULL;
}

pagedrt_status archive_check_path(const char *path) {
  if (path == NULL) return PAGEDRT_OK;
  if (path[0] == 0) return error_set(PAGEDRT_INVALID_INPUT, "pipeline_archive: \"\", expected the path of a file");
  char *whole = absolute(path);
  if (whole == NULL) {
    return error_set(PAGEDRT_INVALID_INPUT, "pipeline_archive: %zu bytes, expected a shorter path", strlen(path));
  }
  NSString *text = [[NSString alloc] initWithUTF8String:whole];
  struct stat found;
  bool other = whole[strlen(whole) - 1] == '/' || (stat(whole, &found) == 0 && !S_ISREG(found.st_mode));
  bool spelled = text != nil;
  [text release];
  free(whole);
  if (!spelled) return error_set(PAGEDRT_INVALID_INPUT, "pipeline_archive: not UTF-8, expected the path of a file");
  if (other) {
    return error_set(PAGEDRT_INVALID_INPUT, "pipeline_archive: \"%s\", expected the path of a file, there or not yet there", path);
  }
  return PAGEDRT_OK;
}

static NSURL *url_of(const char *path) {
  NSString *text = [[NSString alloc] initWithUTF8String:path];
  NSURL *url = text != nil ? [NSURL fileURLWithPath:text] : nil;
  [text release];
  return url;
}

static void count_refusal(pagedrt_device *device) {
  count_up(&device->counters.archive_refused, 1);
}

/* The file's archive, or an empty one for nil; nil, and counted, where the device refuses. */
static id<MTLBinaryArchive> make(pagedrt_device *device, NSURL *url) NS_RETURNS_RETAINED;
static id<MTLBinaryArchive> make(pagedrt_device *device, NSURL *url) {
  MTLBinaryArchiveDescriptor *descriptor = [[MTLBinaryArchiveDescriptor alloc] init];
  [descriptor setUrl:url];
  NSError *error = nil;
  id<MTLBinaryArchive> made = [device->metal newBinaryArchiveWithDescriptor:descriptor error:&error];
  [descriptor release];
  if (made == nil) count_refusal(device);
  return made;
}

/* Metal in a virtual machine has none, and ends the process where one is loaded. */
static bool works_on(id<MTLDevice> metal) {
  const char *name = [[metal name] UTF8String];
  return name != NULL && strstr(name, "Paravirtual") == NULL;
}

pagedrt_status archive_open(pagedrt_device *device, const char *path) {
  pipeline_archive *archive = &device->pipelines.archive;
  if (path == NULL) return PAGEDRT_OK;
  archive->path = absolute(path);
  if (archive->path == NULL) return error_set(PAGEDRT_OUT_OF_MEMORY, "pipeline_archive: no memory for its path");
  if (!works_on(device->metal)) {
    count_refusal(device);
    return PAGEDRT_OK;
  }
  NSURL *url = url_of(archive->path);
  if (url != nil && access(archive->path, F_OK) == 0) archive->metal = make(device, url);
  archive->loaded = archive->metal != nil;
  if (!archive->loaded) archive->metal = make(device, nil);
  return PAGEDRT_OK;
}

id<MTLComputePipelineState> archive_find(pagedrt_device *device, id<MTLFunction> function) {
  pipeline_archive *archive = &device->pipelines.archive;
  if (!archive->loaded) return nil;
  MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor alloc] init];
  [descriptor setComputeFunction:function];
  [descriptor setBinaryArchives:[NSArray arrayWithObject:archive->metal]];
  NSError *error = nil;
  id<MTLComputePipelineState> state =
      [device->metal newComputePipelineStateWithDescriptor:descriptor
                                                   options:MTLPipelineOptionFailOnBinaryArchiveMiss
                                                reflection:NULL
                                                     error:&error];
  [descriptor release];
  if (state != nil) count_up(&device->counters.archive_hits, 1);
  return state;
}

void archive_add(pagedrt_device *device, id<MTLFunction> function) {
  pipeline_archive *archive = &device->pipelines.archive;
  if (archive->metal == nil) return;
  MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor alloc] init];
  [descriptor setComputeFunction:function];
  NSError *error = nil;
  if ([archive->metal addComputePipelineFunctionsWithDescriptor:descriptor error:&error]) {
    count_up(&device->counters.archive_added, 1);
    archive->changed = true;
  } else {
    count_refusal(device);
  }
  [descriptor release];
}

/* Under a name that nobody else has, so that the file is another's or ours, and never half of one. */
static bool replace(pipeline_archive *archive) {
  char written[PATH_MAX];
  snprintf(written, sizeof written, "%s%s", archive->path, suffix);
  int reserved = mkstemp(written);
  if (reserved < 0) return false;
  close(reserved);
  unlink(written); /* what Metal does to a file that is there is not said */
  NSURL *url = url_of(written);
  NSError *error = nil;
  if (url != nil && [archive->metal serializeToURL:url error:&error] && rename(written, archive->path) == 0) return true;
  unlink(written);
  return false;
}

void archive_save(pagedrt_device *device) {
  pipeline_archive *archive = &device->pipelines.archive;
  if (!archive->changed) return;
  archive->changed = false;
  if (!replace(archive)) count_up(&device->counters.archive_unsaved, 1);
}

void archive_end(pipeline_archive *archive) {
  [archive->metal release];
  free(archive->path);
}
