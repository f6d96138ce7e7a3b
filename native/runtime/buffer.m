#include "buffer.h"

#include <stdlib.h>

#include "device.h"
#include "errors.h"
#include "fork.h"
#include "scratch.h"
#include "stream.h"

static void buffer_dispose(void *self) {
  pagedrt_buffer *buffer = self;
  [buffer->metal release];
  if (buffer->public) object_release(buffer->device);
  free(buffer);
}

/* Takes over `metal`. */
static pagedrt_status buffer_around(pagedrt_device *device, id<MTLBuffer> metal, pagedrt_buffer **out) {
  pagedrt_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) {
    [metal release];
    return error_set(PAGEDRT_OUT_OF_MEMORY, "buffer: no memory for its handle");
  }
  object_init(&buffer->object, buffer_dispose);
  buffer->device = device;
  buffer->metal = metal;
  buffer->base = (uintptr_t)[metal contents];
  *out = buffer;
  return PAGEDRT_OK;
}

static pagedrt_status check_length(pagedrt_device *device, size_t length) {
  if (length == 0) return error_set(PAGEDRT_INVALID_INPUT, "length: 0, expected at least 1 byte");
  if (length > device->max_buffer_length) {
    return error_set(PAGEDRT_INVALID_INPUT, "length: %zu bytes, expected at most %zu, the most that the device allows a buffer",
                     length, device->max_buffer_length);
  }
  return PAGEDRT_OK;
}

pagedrt_status buffer_new(pagedrt_device *device, size_t length, pagedrt_buffer **out) {
  pagedrt_status status = check_length(device, length);
  if (status != PAGEDRT_OK) return status;
  size_t page = device->memory_page, whole = (length + page - 1) / page * page;
  if (whole < length || whole > device->max_buffer_length) whole = length;
  id<MTLBuffer> metal = [device->metal newBufferWithLength:whole options:MTLResourceStorageModeShared];
  if (metal == nil) return error_set(PAGEDRT_OUT_OF_MEMORY, "the device has no %zu bytes for a buffer", length);
  status = buffer_around(device, metal, out);
  if (status != PAGEDRT_OK) return status;
  (*out)->pointer = (void *)(*out)->base;
  (*out)->length = length;
  (*out)->writable = true;
  return PAGEDRT_OK;
}

pagedrt_status buffer_new_wrapping(pagedrt_device *device, void *pointer, size_t length, bool writable, pagedrt_buffer **out) {
  pagedrt_status status = check_length(device, length);
  if (status != PAGEDRT_OK) return status;
  uintptr_t page = device->memory_page, start = (uintptr_t)pointer;
  if (start > UINTPTR_MAX - length - page) {
    return error_set(PAGEDRT_INVALID_INPUT, "pointer: %p + %zu bytes runs past the address space", pointer, length);
  }
  if (writable && (start % page != 0 || length % page != 0)) {
    return error_set(PAGEDRT_INVALID_INPUT,
                     "pointer: %p, length: %zu, expected multiples of %zu for memory that the device writes in place",
                     pointer, length, (size_t)page);
  }
  uintptr_t first = start / page * page, end = (start + length + page - 1) / page * page;
  id<MTLBuffer> metal = [device->metal newBufferWithBytesNoCopy:(void *)first
                                                         length:end - first
                                                        options:MTLResourceStorageModeShared
                                                    deallocator:nil];
  if (metal == nil) {
    return error_set(PAGEDRT_INVALID_INPUT, "pointer: %p, length: %zu: the device cannot use this memory in place; copy it",
                     pointer, length);
  }
  status = buffer_around(device, metal, out);
  if (status != PAGEDRT_OK) return status;
  (*out)->base = first;
  (*out)->pointer = pointer;
  (*out)->length = length;
  (*out)->wrapped = true;
  (*out)->writable = writable;
  return PAGEDRT_OK;
}

static pagedrt_status publish(pagedrt_buffer *buffer, pagedrt_buffer **out) {
  if (!memory_map_add(&buffer->device->map, buffer)) {
    object_release(buffer);
    return error_set(PAGEDRT_OUT_OF_MEMORY, "buffer: no memory for the table of live buffers");
  }
  buffer->public = true;
  object_retain(buffer->device);
  *out = buffer;
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_buffer_create(pagedrt_device *device, size_t length, pagedrt_buffer **buffer) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (buffer == NULL) return error_set(PAGEDRT_INVALID_INPUT, "buffer: NULL, expected a place for the handle");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  pagedrt_buffer *made = NULL;
  status = buffer_new(device, length, &made);
  if (status == PAGEDRT_OK) status = publish(made, buffer);
  [pool drain];
  return status;
}

pagedrt_status pagedrt_buffer_wrap(pagedrt_device *device, void *pointer, size_t length, bool writable, pagedrt_buffer **buffer) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (buffer == NULL) return error_set(PAGEDRT_INVALID_INPUT, "buffer: NULL, expected a place for the handle");
  if (pointer == NULL) return error_set(PAGEDRT_INVALID_INPUT, "pointer: NULL, expected memory to adopt");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  pagedrt_buffer *made = NULL;
  status = buffer_new_wrapping(device, pointer, length, writable, &made);
  if (status == PAGEDRT_OK) status = publish(made, buffer);
  [pool drain];
  return status;
}

void *pagedrt_buffer_contents(pagedrt_buffer *buffer) {
  return buffer == NULL ? NULL : buffer->pointer;
}

size_t pagedrt_buffer_length(pagedrt_buffer *buffer) {
  return buffer == NULL ? 0 : buffer->length;
}

void pagedrt_buffer_destroy(pagedrt_buffer *buffer) {
  if (buffer == NULL || fork_happened()) return;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  memory_map_remove(&buffer->device->map, buffer);
  /* Owned memory lives until the last command buffer lets go; foreign memory may be unmapped next. */
  if (buffer->wrapped) {
    scratches_forget_output(buffer->device, buffer);
    streams_drain(buffer->device);
  }
  object_release(buffer);
  [pool drain];
}

bool pagedrt_device_owns(pagedrt_device *device, const void *pointer, size_t length, bool writable) {
  if (device == NULL || fork_happened() || (uintptr_t)pointer > UINTPTR_MAX - length) return false;
  memory_map_read(&device->map);
  bool owned = memory_map_find(&device->map, pointer, length, writable) != NULL;
  memory_map_done(&device->map);
  return owned;
}
