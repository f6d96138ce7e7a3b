#include "metal/compute_encoder.h"

#include <string.h>

#include "execution/thread.h"
#include "foundation/class_cache.h"
#include "metal/buffer.h"

enum { MAX_BYTES = 4096 };

SoftmetalComputeEncoder *softmetal_compute_encoder_new(SoftmetalCommandBuffer *commandBuffer) {
  SoftmetalComputeEncoder *self = [CACHED_CLASS(SoftmetalComputeEncoder) alloc];
  if (self != nil) self->commandBuffer = [commandBuffer retain];
  return self;
}

static const char *kernel_name(const SoftmetalComputeEncoder *self) {
  return self->pipeline != nil ? self->pipeline->kernel->name : "no pipeline yet";
}

#define FAIL(self, code, format, ...) \
  softmetal_command_buffer_fail((self)->commandBuffer, code, "%s: " format, kernel_name(self), __VA_ARGS__)

/* Else the failure is noted. */
static BOOL may_encode(SoftmetalComputeEncoder *self, const char *call) {
  if (!self->ended && !self->commandBuffer->committed) return YES;
  FAIL(self, MTLCommandBufferErrorInternal, "%s after %s, expected before it", call, self->ended ? "endEncoding" : "commit");
  return NO;
}

static BOOL index_valid(SoftmetalComputeEncoder *self, const char *call, NSUInteger index) {
  if (index < SOFTMETAL_BUFFERS) return YES;
  FAIL(self, MTLCommandBufferErrorInternal, "%s index %lu, expected 0 to %d", call, index, SOFTMETAL_BUFFERS - 1);
  return NO;
}

static void bind(SoftmetalComputeEncoder *self, NSUInteger index, void *pointer, uint64_t length) {
  self->pointers[index] = pointer;
  self->lengths[index] = length;
  self->bound |= 1u << index;
}

@implementation SoftmetalComputeEncoder

- (void)dealloc {
  if (!ended && commandBuffer->openEncoder == self) {
    commandBuffer->openEncoder = nil;
    if (!commandBuffer->committed) {
      FAIL(self, MTLCommandBufferErrorInternal, "%s", "encoder released while open, expected its endEncoding first");
    }
  }
  [commandBuffer release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return commandBuffer->queue->device;
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  if (!may_encode(self, "setComputePipelineState:")) return;
  if (![state isKindOfClass:CACHED_CLASS(SoftmetalPipeline)] || ((SoftmetalPipeline *)state)->device != commandBuffer->queue->device) {
    FAIL(self, MTLCommandBufferErrorInvalidResource, "%s", "setComputePipelineState: nil or another device's, expected this device's");
    return;
  }
  pipeline = (SoftmetalPipeline *)state;
  softmetal_command_buffer_keep(commandBuffer, state);
}

- (void)setBuffer:(id<MTLBuffer>)given offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  if (!may_encode(self, "setBuffer:offset:atIndex:") || !index_valid(self, "setBuffer:offset:atIndex:", index)) return;
  SoftmetalBuffer *buffer = (SoftmetalBuffer *)given;
  if (buffer == nil) {
    bound &= ~(1u << index);
    return;
  }
  if (buffer->device != commandBuffer->queue->device) {
    FAIL(self, MTLCommandBufferErrorInvalidResource, "buffer %lu is another device's", index);
    return;
  }
  if (offset >= buffer->length) {
    FAIL(self, MTLCommandBufferErrorInvalidResource, "buffer %lu offset %lu, expected less than its length %lu", index, offset,
         buffer->length);
    return;
  }
  bind(self, index, buffer->pointer + offset, buffer->length - offset);
  softmetal_command_buffer_keep(commandBuffer, buffer);
}

- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  if (!may_encode(self, "setBytes:length:atIndex:") || !index_valid(self, "setBytes:length:atIndex:", index)) return;
  if (bytes == NULL || length == 0 || length > MAX_BYTES) {
    FAIL(self, MTLCommandBufferErrorInternal, "setBytes index %lu of %lu bytes at %p, expected 1 to %d bytes", index, length, bytes,
         MAX_BYTES);
    return;
  }
  void *copy = softmetal_recording_take(commandBuffer->work.recording, length);
  if (copy == NULL) {
    FAIL(self, MTLCommandBufferErrorOutOfMemory, "no memory for %lu bytes of setBytes", length);
    return;
  }
  memcpy(copy, bytes, length);
  bind(self, index, copy, length);
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  const char *call = "setThreadgroupMemoryLength:atIndex:";
  if (!may_encode(self, call) || !index_valid(self, call, index)) return;
  NSUInteger sum = threadgroupMemorySum - threadgroupMemory[index] + length;
  if (length % 16 != 0 || length > THREADGROUP_MEMORY || sum > THREADGROUP_MEMORY) {
    FAIL(self, MTLCommandBufferErrorInternal,
         "threadgroup memory %lu of %lu bytes (%lu with the others), expected a multiple of 16 and a sum of at most %d", index, length,
         sum, THREADGROUP_MEMORY);
    return;
  }
  threadgroupMemory[index] = (uint32_t)length;
  threadgroupMemorySum = (uint32_t)sum;
}

- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
  (void)scope; /* a serial encoder orders every dispatch after those before it */
  may_encode(self, "memoryBarrierWithScope:");
}

- (void)endEncoding {
  if (!may_encode(self, "endEncoding")) return;
  ended = YES;
  commandBuffer->openEncoder = nil;
}

/* Whether the pipeline is set, its buffers are bound and a threadgroup fits. */
- (BOOL)ready:(MTLSize)threads {
  if (pipeline == nil) {
    FAIL(self, MTLCommandBufferErrorInternal, "%s", "dispatch without setComputePipelineState:");
    return NO;
  }
  uint32_t unbound = ((1u << pipeline->kernel->buffer_count) - 1) & ~bound;
  if (unbound != 0) {
    FAIL(self, MTLCommandBufferErrorInvalidResource, "buffer %d is not bound, expected buffers 0 to %u", __builtin_ctz(unbound),
         pipeline->kernel->buffer_count - 1);
    return NO;
  }
  NSUInteger limit = pipeline->maxThreads;
  if (threads.width == 0 || threads.height == 0 || threads.depth == 0 || threads.width > limit || threads.height > limit ||
      threads.depth > limit || threads.width * threads.height * threads.depth > limit) {
    FAIL(self, MTLCommandBufferErrorInternal, "%lu x %lu x %lu threads per threadgroup, expected 1 to %lu in all", threads.width,
         threads.height, threads.depth, limit);
    return NO;
  }
  return YES;
}

- (BOOL)gridValid:(MTLSize)grid of:(const char *)unit {
  if (grid.width > 0 && grid.height > 0 && grid.depth > 0 && grid.width <= UINT32_MAX && grid.height <= UINT32_MAX &&
      grid.depth <= UINT32_MAX && grid.width * grid.height <= UINT64_MAX / 2 / grid.depth) {
    return YES;
  }
  FAIL(self, MTLCommandBufferErrorInternal, "grid of %lu x %lu x %lu %s, expected 1 to 2^32 - 1 each and less than 2^63 in all",
       grid.width, grid.height, grid.depth, unit);
  return NO;
}

- (void)record:(MTLSize)grid threads:(MTLSize)threads gridThreads:(MTLSize)gridThreads {
  recording *recording = commandBuffer->work.recording;
  uint32_t count = pipeline->kernel->buffer_count;
  size_t bytes = count * sizeof(uint64_t);
  uint64_t *lists = softmetal_recording_take(recording, 2 * bytes);
  command *added = lists != NULL ? softmetal_recording_add(recording, COMMAND_DISPATCH) : NULL;
  if (added == NULL) {
    FAIL(self, MTLCommandBufferErrorOutOfMemory, "%s", "no memory to record a dispatch");
    return;
  }
  memcpy(lists, pointers, bytes);
  memcpy(lists + count, lengths, bytes);
  added->of.dispatch = (softmetal_dispatch){
    .kernel = pipeline->kernel,
    .constants = pipeline->constants,
    .buffers = (void **)lists,
    .lengths = lists + count,
    .grid = {(uint32_t)grid.width, (uint32_t)grid.height, (uint32_t)grid.depth},
    .threads = {(uint32_t)threads.width, (uint32_t)threads.height, (uint32_t)threads.depth},
    .grid_threads = {(uint32_t)gridThreads.width, (uint32_t)gridThreads.height, (uint32_t)gridThreads.depth},
    .threadgroup_memory = threadgroupMemory[0],
    .threadgroups = grid.width * grid.height * grid.depth,
    .group_picoseconds = &pipeline->groupPicoseconds,
  };
}

- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
  if (!may_encode(self, "dispatchThreadgroups:threadsPerThreadgroup:") || ![self ready:threadsPerThreadgroup] ||
      ![self gridValid:threadgroupsPerGrid of:"threadgroups"]) {
    return;
  }
  MTLSize all = MTLSizeMake(threadgroupsPerGrid.width * threadsPerThreadgroup.width,
                            threadgroupsPerGrid.height * threadsPerThreadgroup.height,
                            threadgroupsPerGrid.depth * threadsPerThreadgroup.depth);
  if (![self gridValid:all of:"threads"]) return;
  [self record:threadgroupsPerGrid threads:threadsPerThreadgroup gridThreads:all];
}

static NSUInteger divide_up(NSUInteger count, NSUInteger by) {
  return (count + by - 1) / by;
}

- (void)dispatchThreads:(MTLSize)threadsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
  if (!may_encode(self, "dispatchThreads:threadsPerThreadgroup:") || ![self ready:threadsPerThreadgroup] ||
      ![self gridValid:threadsPerGrid of:"threads"]) {
    return;
  }
  MTLSize grid = MTLSizeMake(divide_up(threadsPerGrid.width, threadsPerThreadgroup.width),
                             divide_up(threadsPerGrid.height, threadsPerThreadgroup.height),
                             divide_up(threadsPerGrid.depth, threadsPerThreadgroup.depth));
  [self record:grid threads:threadsPerThreadgroup gridThreads:threadsPerGrid];
}

@end
