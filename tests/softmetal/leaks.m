#include "support.h"

static void everything(int turn) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id<MTLDevice> device = test_device(2);
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLComputePipelineState> pipeline = test_pipeline(device, "append");
  id<MTLBuffer> log = test_buffer(device, 4096);
  id<MTLSharedEvent> event = [device newSharedEvent];
  uint32_t value = 7;
  for (int i = 0; i < 10; i++) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    test_encode(commands, pipeline, i == 3 ? nil : log, &value, sizeof value, 1);
    [commands encodeSignalEvent:event value:(uint64_t)i];
    if (i == 5) continue; /* never committed */
    [commands commit];
    if (turn % 2 == 0 || i == 9) [commands waitUntilCompleted];
  }
  NSError *error = nil;
  [device newLibraryWithSource:@"no such text" options:nil error:&error];
  [event release];
  [log release];
  [pipeline release];
  [queue release];
  [device release];
  [pool release];
}

int main(void) {
  CHECK("nothing lives at first", softmetal_testing_live_objects() == 0);
  for (int i = 0; i < 20; i++) everything(i);
  CHECK("nothing lives at the end", test_live_objects_fall_to(0));
  NSObject *object = [NSObject new];
  CHECK("the count counts", softmetal_testing_live_objects() == 1);
  [object release];
  return test_result();
}
