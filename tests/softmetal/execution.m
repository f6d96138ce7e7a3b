#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS = 1000 };

static void series(id<MTLDevice> device, uint32_t terms, NSUInteger groups, float *out) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLComputePipelineState> pipeline = test_pipeline(device, "series");
  id<MTLBuffer> buffer = test_buffer(device, groups * sizeof(float));
  /* Run again, so that what was learned of its time is used too. */
  for (int i = 0; i < 5; i++) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    memset([buffer contents], 0, groups * sizeof(float));
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    test_encode(commands, pipeline, buffer, &terms, sizeof terms, groups);
    [commands commit];
    if (i % 2 == 0) [commands waitUntilCompleted];
    if (!test_completes(commands)) abort();
    [pool release];
  }
  memcpy(out, [buffer contents], groups * sizeof(float));
  [buffer release];
  [pipeline release];
  [queue release];
}

static void check_workers(uint32_t terms, NSUInteger groups) {
  float expected[GROUPS], seen[GROUPS];
  for (NSUInteger group = 0; group < groups; group++) {
    float sum = 0;
    for (uint32_t i = 1; i <= terms; i++) sum += 1.0f / (float)(i + group);
    expected[group] = sum;
  }
  static const uint32_t threads[] = {1, 2, 8};
  for (int i = 0; i < 3; i++) {
    id<MTLDevice> device = test_device(threads[i]);
    series(device, terms, groups, seen);
    CHECK("the same bits at 1, 2 and 8 workers", memcmp(seen, expected, groups * sizeof(float)) == 0);
    softmetal_testing_set_seed(12345 + terms);
    series(device, terms, groups, seen);
    softmetal_testing_set_seed(0);
    CHECK("and in another order", memcmp(seen, expected, groups * sizeof(float)) == 0);
    [device release];
  }
}

static void check_every_group_once(void) {
  id<MTLDevice> device = test_device(8);
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLComputePipelineState> pipeline = test_pipeline(device, "position");
  const NSUInteger groups = 70001;
  id<MTLBuffer> buffer = test_buffer(device, groups * 12);
  uint32_t size[2] = {(uint32_t)groups, 1}, *out = [buffer contents];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  for (int i = 0; i < 3; i++) test_encode(commands, pipeline, buffer, size, sizeof size, groups);
  [commands commit];
  [commands waitUntilCompleted];
  bool good = true;
  for (uint32_t i = 0; i < groups; i++) good = good && out[3 * i] == 3 * (i + 1) && out[3 * i + 1] == 3 && out[3 * i + 2] == 3;
  CHECK("every threadgroup of a shared dispatch runs once", good);
  [buffer release];
  [pipeline release];
  [queue release];
  [device release];
}

static void check_threadgroup_memory(void) {
  id<MTLDevice> device = test_device(4);
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLComputePipelineState> pipeline = test_pipeline(device, "memory");
  id<MTLBuffer> buffer = test_buffer(device, GROUPS * 4);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder setThreadgroupMemoryLength:32768 atIndex:0];
  [encoder dispatchThreadgroups:test_size(GROUPS) threadsPerThreadgroup:test_size(1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  uint32_t good = 1, *out = [buffer contents];
  for (int i = 0; i < GROUPS; i++) good &= out[i];
  CHECK("a threadgroup's memory is its own", good == 1);
  [buffer release];
  [pipeline release];
  [queue release];
  [device release];
}

/* After the poller has gone to sleep a commit must wake somebody. */
static void check_after_idling(void) {
  id<MTLDevice> device = test_device(2);
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLComputePipelineState> pipeline = test_pipeline(device, "nothing");
  bool good = true;
  for (int i = 0; i < 4; i++) {
    test_sleep_milliseconds(100);
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    test_encode(commands, pipeline, nil, NULL, 0, 1);
    [commands commit];
    good = good && test_completes(commands);
    [pool release];
  }
  CHECK("a commit after idling completes with nobody waiting", good);
  [pipeline release];
  [queue release];
  [device release];
}

/* The workers do the last release, of the device too. */
static void check_abandoned(void) {
  for (int i = 0; i < 50; i++) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    id<MTLDevice> device = test_device(2);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLComputePipelineState> pipeline = test_pipeline(device, "nothing");
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    test_encode(commands, pipeline, nil, NULL, 0, 100);
    [commands commit];
    [pipeline release];
    [queue release];
    [device release];
    [pool release];
  }
  CHECK("work given up by everybody ends, and its device with it", test_live_objects_fall_to(1));
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  check_workers(10, GROUPS);
  check_workers(20000, 40);
  check_every_group_once();
  check_threadgroup_memory();
  check_after_idling();
  [pool release];
  pool = [[NSAutoreleasePool alloc] init];
  check_abandoned();
  [pool release];
  return test_result();
}
