#ifndef PAGEDRT_BUFFER_H
#define PAGEDRT_BUFFER_H

#import <Metal/Metal.h>

#include "object.h"
#include "pagedrt.h"

struct pagedrt_buffer {
  object object;
  pagedrt_device *device;
  id<MTLBuffer> metal;
  void *pointer;
  size_t length;
  uintptr_t base; /* address of metal's first byte: at or before pointer */
  bool wrapped, writable;
  bool public; /* made by the C ABI: in the memory map, and holds the device */

  /* Of a buffer made for one call: */
  pagedrt_buffer *next;
  void *destination; /* where a bounced output is copied to, or NULL */
  uint32_t slot;     /* the call's in its command buffer */
};

/* What a kernel's argument is bound to. */
typedef struct binding {
  id<MTLBuffer> metal;
  NSUInteger offset;
} binding;

static inline binding buffer_binding(const pagedrt_buffer *buffer, const void *pointer) {
  return (binding){buffer->metal, (uintptr_t)pointer - buffer->base};
}

static inline binding slice_binding(pagedrt_slice slice) {
  return buffer_binding(slice.buffer, (const char *)slice.buffer->pointer + slice.offset);
}

/* Page-aligned; in no map. */
pagedrt_status buffer_new(pagedrt_device *device, size_t length, pagedrt_buffer **buffer);
/* In place, in no map; PAGEDRT_INVALID_INPUT where the device cannot. */
pagedrt_status buffer_new_wrapping(pagedrt_device *device, void *pointer, size_t length, bool writable, pagedrt_buffer **buffer);

#endif
