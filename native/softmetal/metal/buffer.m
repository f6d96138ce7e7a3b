#include "metal/buffer.h"

#include <unistd.h>

#include "hooks.h"
#include "metal/mappings.h"

static NSUInteger page_size(void) {
  return (NSUInteger)sysconf(_SC_PAGESIZE);
}

/* Shared and private are what Apple silicon's buffers know beside managed, which nothing here needs. */
static BOOL options_valid(MTLResourceOptions options) {
  const MTLResourceOptions known = MTLResourceCPUCacheModeWriteCombined | MTLResourceStorageModePrivate |
                                   MTLResourceHazardTrackingModeUntracked | MTLResourceHazardTrackingModeTracked;
  const MTLResourceOptions both = MTLResourceHazardTrackingModeUntracked | MTLResourceHazardTrackingModeTracked;
  return (options & ~known) == 0 && (options & both) != both;
}

static SoftmetalBuffer *buffer_around(SoftmetalDevice *device, char *pointer, NSUInteger length, MTLResourceOptions options) {
  SoftmetalBuffer *buffer = [[SoftmetalBuffer alloc] init];
  if (buffer == nil) return nil;
  buffer->device = [device retain];
  buffer->pointer = pointer;
  buffer->length = length;
  buffer->storageMode = (options >> 4) & 15;
  return buffer;
}

SoftmetalBuffer *softmetal_buffer_new(SoftmetalDevice *device, NSUInteger length, MTLResourceOptions options) {
  if (softmetal_hook_fails() || length == 0 || length > device->maxBufferLength || !options_valid(options)) return nil;
  NSUInteger page = page_size(), bytes = (length + page - 1) / page * page;
  char *pointer = softmetal_mapping_take(bytes);
  if (pointer == NULL) return nil;
  SoftmetalBuffer *buffer = buffer_around(device, pointer, length, options);
  if (buffer == nil) softmetal_mapping_give(pointer, bytes);
  else buffer->mapped = bytes;
  return buffer;
}

SoftmetalBuffer *softmetal_buffer_wrap(SoftmetalDevice *device, void *pointer, NSUInteger length, MTLResourceOptions options) {
  NSUInteger page = page_size();
  if (softmetal_hook_fails() || softmetal_hook_no_copy_refused()) return nil;
  if (pointer == NULL || length == 0 || length > device->maxBufferLength) return nil;
  if ((uintptr_t)pointer % page != 0 || length % page != 0) return nil;
  if (!options_valid(options) || (options & MTLResourceStorageModePrivate) != 0) return nil;
  return buffer_around(device, pointer, length, options);
}

@implementation SoftmetalBuffer

- (void)dealloc {
  if (mapped > 0) softmetal_mapping_give(pointer, mapped);
  [device release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return device;
}

- (MTLStorageMode)storageMode {
  return storageMode;
}

- (NSUInteger)length {
  return length;
}

- (void *)contents {
  return storageMode == MTLStorageModePrivate ? NULL : pointer;
}

@end
