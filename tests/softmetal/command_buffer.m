#include "support.h"

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;
static id<MTLComputePipelineState> gate, append;

static void check_life(void) {
  id<MTLBuffer> words = test_buffer(device, 8);
  uint32_t *open = [words contents];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  CHECK("not enqueued at first", [commands status] == MTLCommandBufferStatusNotEnqueued && [commands commandQueue] == queue);
  test_encode(commands, gate, words, NULL, 0, 1);
  [commands enqueue];
  CHECK("enqueued", [commands status] == MTLCommandBufferStatusEnqueued);
  [commands commit];
  CHECK("commit returns before a slow kernel ends", [commands status] < MTLCommandBufferStatusCompleted && open[1] == 0);
  CHECK("no times before the end", [commands GPUStartTime] == 0 && [commands GPUEndTime] == 0);
  __atomic_store_n(&open[0], 1, __ATOMIC_RELEASE);
  CHECK("it completes with nobody waiting", test_completes(commands) && open[1] == 1);
  CHECK("without an error", [commands status] == MTLCommandBufferStatusCompleted && [commands error] == nil);
  CHECK("it ends after it starts", [commands GPUStartTime] > 0 && [commands GPUEndTime] >= [commands GPUStartTime]);
  [commands waitUntilCompleted];
  CHECK("waiting again returns at once", [commands status] == MTLCommandBufferStatusCompleted);
  [words release];
}

static void check_misuse(void) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("an empty one completes", [commands status] == MTLCommandBufferStatusCompleted);
  [commands commit];
  CHECK("committed twice is an error", test_failed_with(commands, MTLCommandBufferErrorInternal, "commit again"));
  commands = [queue commandBuffer];
  [commands commit];
  CHECK("no encoder after commit", [commands computeCommandEncoder] == nil);
  [commands waitUntilCompleted];
  CHECK("which is an error", test_failed_with(commands, MTLCommandBufferErrorInternal, "computeCommandEncoder after commit"));
  commands = [queue commandBuffer];
  [commands waitUntilCompleted];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("waiting before commit is an error", test_failed_with(commands, MTLCommandBufferErrorInternal, "before commit"));
  commands = [queue commandBuffer];
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  [commands computeCommandEncoder];
  [pool release];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("an encoder released while open is an error", test_failed_with(commands, MTLCommandBufferErrorInternal, "released while open"));
}

static void check_failure_is_its_own(void) {
  id<MTLBuffer> log = test_buffer(device, 64);
  uint32_t *entries = [log contents], value = 1;
  id<MTLCommandBuffer> commands[3];
  for (int i = 0; i < 3; i++) {
    commands[i] = [queue commandBuffer];
    test_encode(commands[i], append, i == 1 ? nil : log, &value, sizeof value, 1);
    [commands[i] commit];
    value++;
  }
  for (int i = 0; i < 3; i++) [commands[i] waitUntilCompleted];
  CHECK("a failed one fails alone", [commands[0] status] == MTLCommandBufferStatusCompleted &&
                                        test_failed_with(commands[1], MTLCommandBufferErrorInvalidResource, "append|buffer 0") &&
                                        [commands[2] status] == MTLCommandBufferStatusCompleted);
  CHECK("those around it ran", entries[0] == 2 && entries[1] == 1 && entries[2] == 3);
  [log release];
}

static void check_references(void) {
  id<MTLBuffer> log = test_buffer(device, 64);
  uint32_t value = 1;
  CHECK("references are retained by default", [[queue commandBuffer] retainedReferences]);
  id<MTLCommandBuffer> commands = [queue commandBuffer], unretained = [queue commandBufferWithUnretainedReferences];
  test_encode(unretained, append, log, &value, sizeof value, 1);
  CHECK("not by the unretained kind", ![unretained retainedReferences] && [log retainCount] == 1);
  test_encode(commands, append, log, &value, sizeof value, 1);
  CHECK("a bound buffer is retained", [log retainCount] == 2);
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("until completion", [log retainCount] == 1);
  commands = [[queue commandBuffer] retain];
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  for (int i = 0; i < 100; i++) test_encode(commands, append, log, &value, sizeof value, 1);
  [pool release];
  CHECK("or until it is given up", [log retainCount] == 101);
  [commands release];
  [log release];
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  device = test_device(2);
  queue = [device newCommandQueue];
  gate = test_pipeline(device, "gate");
  append = test_pipeline(device, "append");
  check_life();
  check_misuse();
  check_failure_is_its_own();
  check_references();
  [pool release];
  return test_result();
}
