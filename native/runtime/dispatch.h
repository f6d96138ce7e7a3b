/* A prepared dispatch: what stays the same from call to call, fixed once. */
#ifndef PAGEDRT_DISPATCH_H
#define PAGEDRT_DISPATCH_H

#import <Metal/Metal.h>

#include "arguments.h"
#include "buffer.h"
#include "kernels.h"

struct pagedrt_dispatch {
  id<MTLComputePipelineState> state; /* the device's pipeline cache holds it */
  MTLSize grid, threadgroup;         /* threadgroups, threads */
  NSUInteger threadgroup_memory;
  pagedrt_arguments arguments;       /* the last three are each call's */
};

/* What a call adds. */
typedef struct call_site {
  id<MTLComputeCommandEncoder> encoder;
  id<MTLBuffer> statuses;
  uint32_t slot;
  uint32_t page_capacity, context_tokens;
} call_site;

/* Geometry and layout have been checked, but for what the pipeline allows. Reduce takes of the layout its blocks alone. */
pagedrt_status dispatch_prepare(pagedrt_device *device, kernel_kind kind, const pagedrt_geometry *geometry, const pagedrt_layout *layout, pagedrt_dispatch *dispatch);
/* bindings: the kernel's buffers in order, but for status and arguments, which follow them. */
void dispatch_encode(const pagedrt_dispatch *dispatch, const call_site *site, const binding *bindings, unsigned count);

#endif
