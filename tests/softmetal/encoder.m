#include "support.h"

#include <string.h>

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;
static id<MTLComputePipelineState> add, position;
static id<MTLBuffer> buffer;
static float one = 1;

/* The first call's encoder is ready for a dispatch of add. */
static id<MTLCommandBuffer> begin(id<MTLComputeCommandEncoder> *encoder) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  *encoder = [commands computeCommandEncoder];
  [*encoder setComputePipelineState:add];
  [*encoder setBuffer:buffer offset:0 atIndex:0];
  [*encoder setBytes:&one length:sizeof one atIndex:1];
  return commands;
}

/* Whether it fails so, and has run nothing. */
static bool fails(id<MTLCommandBuffer> commands, NSInteger code, const char *texts) {
  [commands commit];
  [commands waitUntilCompleted];
  return test_failed_with(commands, code, texts) && *(float *)[buffer contents] == 0;
}

#define REFUSED(what, code, texts, ...)                                             \
  do {                                                                              \
    id<MTLComputeCommandEncoder> encoder;                                           \
    id<MTLCommandBuffer> commands = begin(&encoder);                                \
    __VA_ARGS__;                                                                    \
    [encoder dispatchThreadgroups:test_size(1) threadsPerThreadgroup:test_size(1)]; \
    [encoder endEncoding];                                                          \
    CHECK(what, fails(commands, code, texts));                                      \
  } while (0)

static void check_bindings(void) {
  char bytes[4097] = {0};
  REFUSED("a buffer index over 30", MTLCommandBufferErrorInternal, "add|index 31|0 to 30", [encoder setBuffer:buffer offset:0 atIndex:31]);
  REFUSED("a bytes index over 30", MTLCommandBufferErrorInternal, "add|index 31|0 to 30", [encoder setBytes:bytes length:4 atIndex:31]);
  REFUSED("more than 4096 bytes", MTLCommandBufferErrorInternal, "add|4097|4096", [encoder setBytes:bytes length:4097 atIndex:1]);
  REFUSED("no bytes", MTLCommandBufferErrorInternal, "add|0 bytes", [encoder setBytes:bytes length:0 atIndex:1]);
  REFUSED("an offset at the buffer's end", MTLCommandBufferErrorInvalidResource, "add|offset 4096|length 4096",
          [encoder setBuffer:buffer offset:4096 atIndex:0]);
  REFUSED("an unbound buffer", MTLCommandBufferErrorInvalidResource, "add|buffer 1|0 to 1", [encoder setBuffer:nil offset:0 atIndex:1]);
  REFUSED("no pipeline", MTLCommandBufferErrorInvalidResource, "nil", [encoder setComputePipelineState:nil]);
  id<MTLDevice> other = test_device(1);
  id<MTLBuffer> foreign = test_buffer(other, 64);
  REFUSED("another device's buffer", MTLCommandBufferErrorInvalidResource, "add|another device", [encoder setBuffer:foreign offset:0 atIndex:0]);
  [foreign release];
  [other release];
}

static void check_threadgroups(void) {
  REFUSED("threadgroup memory off 16", MTLCommandBufferErrorInternal, "add|24|16", [encoder setThreadgroupMemoryLength:24 atIndex:0]);
  REFUSED("threadgroup memory over 32768", MTLCommandBufferErrorInternal, "add|32784|32768",
          [encoder setThreadgroupMemoryLength:32784 atIndex:0]);
  REFUSED("threadgroup memory over 32768 in all", MTLCommandBufferErrorInternal, "add|32784|32768",
          [encoder setThreadgroupMemoryLength:32768 atIndex:0];
          [encoder setThreadgroupMemoryLength:16 atIndex:1]);
  REFUSED("more threads than the pipeline allows", MTLCommandBufferErrorInternal, "add|2 x 1 x 1|1 to 1",
          [encoder dispatchThreadgroups:test_size(1) threadsPerThreadgroup:test_size(2)]);
  REFUSED("no threads", MTLCommandBufferErrorInternal, "add|0 x 1 x 1",
          [encoder dispatchThreadgroups:test_size(1) threadsPerThreadgroup:test_size(0)]);
  REFUSED("an empty grid", MTLCommandBufferErrorInternal, "add|0 x 1 x 1 threadgroups",
          [encoder dispatchThreadgroups:test_size(0) threadsPerThreadgroup:test_size(1)]);
  REFUSED("an empty grid of threads", MTLCommandBufferErrorInternal, "add|grid of 1 x 0 x 1 threads",
          [encoder dispatchThreads:MTLSizeMake(1, 0, 1) threadsPerThreadgroup:test_size(1)]);
  REFUSED("a grid too wide", MTLCommandBufferErrorInternal, "add|4294967296",
          [encoder dispatchThreadgroups:test_size(1ull << 32) threadsPerThreadgroup:test_size(1)]);
}

static void check_ends(void) {
  REFUSED("encoding after endEncoding", MTLCommandBufferErrorInternal, "add|setBytes|after endEncoding",
          [encoder endEncoding];
          [encoder setBytes:&one length:4 atIndex:1]);
  id<MTLComputeCommandEncoder> encoder;
  id<MTLCommandBuffer> commands = begin(&encoder);
  CHECK("an encoder left open at commit", fails(commands, MTLCommandBufferErrorInternal, "commit while an encoder is open"));
  commands = begin(&encoder);
  CHECK("a second open encoder is nil", [commands computeCommandEncoder] == nil);
  [encoder endEncoding];
  CHECK("and makes the command buffer fail", fails(commands, MTLCommandBufferErrorInternal, "encoder is open"));
  commands = begin(&encoder);
  [encoder endEncoding];
  [commands commit];
  [encoder dispatchThreadgroups:test_size(1) threadsPerThreadgroup:test_size(1)];
  CHECK("encoding after commit", fails(commands, MTLCommandBufferErrorInternal, "add|after endEncoding"));
}

static void check_dispatch(void) {
  memset([buffer contents], 0, 4096);
  uint32_t size[2] = {3, 4}, *out = [buffer contents];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:position];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder setBytes:size length:sizeof size atIndex:1];
  size[0] = size[1] = 0;
  [encoder dispatchThreads:MTLSizeMake(3, 4, 5) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  bool good = [commands status] == MTLCommandBufferStatusCompleted && [commands error] == nil;
  for (uint32_t i = 0; i < 60; i++) good = good && out[3 * i] == i % 3 + 1 && out[3 * i + 1] == i / 3 % 4 + 1 && out[3 * i + 2] == i / 12 + 1;
  CHECK("every threadgroup runs once, at its place", good);
  memset([buffer contents], 0, 4096);
}

static void check_offsets(void) {
  id<MTLComputeCommandEncoder> encoder;
  id<MTLCommandBuffer> commands = begin(&encoder);
  [encoder dispatchThreadgroups:test_size(1) threadsPerThreadgroup:test_size(1)];
  [encoder setBuffer:buffer offset:400 atIndex:0];
  float two = 2;
  [encoder setBytes:&two length:sizeof two atIndex:1];
  [encoder dispatchThreadgroups:test_size(2) threadsPerThreadgroup:test_size(1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  float *sums = [buffer contents];
  CHECK("each dispatch has the bindings of its time", sums[0] == 1 && sums[1] == 0 && sums[100] == 2 && sums[101] == 2);
  memset([buffer contents], 0, 4096);
}

static void check_many(void) {
  id<MTLComputeCommandEncoder> encoder;
  id<MTLCommandBuffer> commands = begin(&encoder);
  char bytes[4096] = {0};
  memcpy(bytes, &one, sizeof one);
  for (int i = 0; i < 1000; i++) {
    [encoder setBytes:bytes length:sizeof bytes atIndex:1];
    [encoder dispatchThreadgroups:test_size(1) threadsPerThreadgroup:test_size(1)];
  }
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("a thousand dispatches with 4096 bytes each", *(float *)[buffer contents] == 1000);
  memset([buffer contents], 0, 4096);
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  device = test_device(2);
  queue = [device newCommandQueue];
  add = test_pipeline(device, "add");
  position = test_pipeline(device, "position");
  buffer = test_buffer(device, 4096);
  check_bindings();
  check_threadgroups();
  check_ends();
  check_dispatch();
  check_offsets();
  check_many();
  [pool release];
  return test_result();
}
