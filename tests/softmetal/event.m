#include "support.h"

#include <pthread.h>

static id<MTLDevice> device;
static id<MTLComputePipelineState> append;

static id<MTLCommandBuffer> append_to(id<MTLCommandBuffer> commands, id<MTLBuffer> log, uint32_t value) {
  test_encode(commands, append, log, &value, sizeof value, 1);
  return commands;
}

static void check_host(void) {
  id<MTLSharedEvent> event = [device newSharedEvent];
  CHECK("an event starts at 0", [event signaledValue] == 0 && [event waitUntilSignaledValue:0 timeoutMS:0]);
  CHECK("a wait ends with its time", ![event waitUntilSignaledValue:1 timeoutMS:5]);
  [event setSignaledValue:5];
  CHECK("a larger value is reached", [event signaledValue] == 5 && [event waitUntilSignaledValue:4 timeoutMS:UINT64_MAX]);
  [event setSignaledValue:3];
  CHECK("a smaller one changes nothing", [event signaledValue] == 5);
  [event release];
}

static void check_queues(void) {
  id<MTLCommandQueue> first = [device newCommandQueue], second = [device newCommandQueue];
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLBuffer> log = test_buffer(device, 64);
  id<MTLCommandBuffer> waiting = [second commandBuffer], signalling = [first commandBuffer];
  [waiting encodeWaitForEvent:event value:2];
  append_to(waiting, log, 2);
  [waiting encodeSignalEvent:event value:3];
  [waiting commit];
  append_to(signalling, log, 1);
  [signalling encodeSignalEvent:event value:2];
  test_sleep_milliseconds(20);
  CHECK("a queue waits for an event", [waiting status] < MTLCommandBufferStatusCompleted);
  [event setSignaledValue:1];
  test_sleep_milliseconds(5);
  CHECK("a smaller value does not do", [waiting status] < MTLCommandBufferStatusCompleted);
  [signalling commit];
  CHECK("the host sees the signal", [event waitUntilSignaledValue:3 timeoutMS:UINT64_MAX]);
  [waiting waitUntilCompleted];
  uint32_t *entries = [log contents];
  CHECK("what waited ran last", entries[0] == 2 && entries[1] == 1 && entries[2] == 2);
  [log release];
  [event release];
  [first release];
  [second release];
}

static void *signal_soon(void *event) {
  test_sleep_milliseconds(10);
  [(id<MTLSharedEvent>)event setSignaledValue:1];
  return NULL;
}

static void check_waiting_thread(void) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands encodeWaitForEvent:event value:1];
  [commands commit];
  pthread_t thread;
  pthread_create(&thread, NULL, signal_soon, event);
  [commands waitUntilCompleted];
  CHECK("a thread waits through the event", [commands status] == MTLCommandBufferStatusCompleted);
  pthread_join(thread, NULL);
  [event release];
  [queue release];
}

static void check_failures(void) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  append_to(commands, nil, 1);
  [commands encodeSignalEvent:event value:1];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("a failed command buffer does not signal", [commands status] == MTLCommandBufferStatusError && [event signaledValue] == 0);
  commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [commands encodeSignalEvent:event value:1];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("no signal while an encoder is open", test_failed_with(commands, MTLCommandBufferErrorInternal, "encodeSignalEvent|encoder is open"));
  commands = [queue commandBuffer];
  [commands encodeWaitForEvent:nil value:1];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("no wait for nil", test_failed_with(commands, MTLCommandBufferErrorInvalidResource, "encodeWaitForEvent"));
  [event release];
  [queue release];
}

/* Two queues that hand a value to and fro, and nobody waits until the end. */
static void check_relay(void) {
  id<MTLCommandQueue> queues[2] = {[device newCommandQueue], [device newCommandQueue]};
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLBuffer> log = test_buffer(device, 4096);
  id<MTLCommandBuffer> last = nil;
  for (uint32_t i = 50; i > 0; i -= 2) {
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t turn = 52 - i - k;
      NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
      id<MTLCommandBuffer> commands = [queues[k] commandBuffer];
      [commands encodeWaitForEvent:event value:turn - 1];
      append_to(commands, log, turn);
      [commands encodeSignalEvent:event value:turn];
      [commands commit];
      if (turn == 50) last = [commands retain];
      [pool release];
    }
  }
  CHECK("a relay over two queues completes", test_completes(last));
  bool good = true;
  for (uint32_t i = 1; i <= 50; i++) good = good && ((uint32_t *)[log contents])[i] == i;
  CHECK("in turns", good);
  [last release];
  [log release];
  [event release];
  [queues[0] release];
  [queues[1] release];
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  for (uint32_t threads = 1; threads <= 2; threads++) {
    device = test_device(threads);
    append = test_pipeline(device, "append");
    check_host();
    check_queues();
    check_waiting_thread();
    check_failures();
    check_relay();
    [append release];
    [device release];
  }
  [pool release];
  return test_result();
}
