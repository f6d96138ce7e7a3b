#include "support.h"

#include <pthread.h>

enum { THREADS = 6, CALLS = 300 };

typedef struct caller {
  id<MTLDevice> device;
  id<MTLCommandQueue> queue; /* shared by all, or nil for one of its own */
  id<MTLComputePipelineState> add, series;
  bool good;
} caller;

static bool call(caller *self, id<MTLCommandQueue> queue, id<MTLBuffer> sums, id<MTLBuffer> terms, int turn) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  float one = 1;
  uint32_t count = turn % 3 == 0 ? 2000 : 5;
  id<MTLCommandBuffer> commands = turn % 2 == 0 ? [queue commandBuffer] : [queue commandBufferWithUnretainedReferences];
  test_encode(commands, self->add, sums, &one, sizeof one, 16);
  test_encode(commands, self->series, terms, &count, sizeof count, 32);
  [commands commit];
  if (turn % 5 != 0) [commands waitUntilCompleted];
  bool good = test_completes(commands) && [commands status] == MTLCommandBufferStatusCompleted;
  for (int i = 0; i < 16; i++) good = good && ((float *)[sums contents])[i] == (float)(turn + 1);
  [pool release];
  return good;
}

static void *run(void *argument) {
  caller *self = argument;
  id<MTLCommandQueue> queue = self->queue != nil ? [self->queue retain] : [self->device newCommandQueue];
  id<MTLBuffer> sums = test_buffer(self->device, 64), terms = test_buffer(self->device, 128);
  self->good = true;
  for (int i = 0; i < CALLS; i++) self->good = call(self, queue, sums, terms, i) && self->good;
  [sums release];
  [terms release];
  [queue release];
  return NULL;
}

static bool all_good(id<MTLDevice> device, id<MTLCommandQueue> shared) {
  pthread_t threads[THREADS];
  caller callers[THREADS];
  id<MTLComputePipelineState> add = test_pipeline(device, "add"), series = test_pipeline(device, "series");
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (caller){device, shared, add, series, false};
    pthread_create(&threads[i], NULL, run, &callers[i]);
  }
  bool good = true;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    good = good && callers[i].good;
  }
  [add release];
  [series release];
  return good;
}

int main(void) {
  static const uint32_t workers[] = {1, 2, 8};
  for (int i = 0; i < 3; i++) {
    id<MTLDevice> device = test_device(workers[i]);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    CHECK("threads with a queue each", all_good(device, nil));
    CHECK("threads that share a queue", all_good(device, queue));
    [queue release];
    [device release];
  }
  CHECK("nothing is left", test_live_objects_fall_to(0));
  return test_result();
}
