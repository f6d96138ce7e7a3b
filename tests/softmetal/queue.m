#include "support.h"

#include <pthread.h>

static id<MTLDevice> device;
static id<MTLComputePipelineState> gate, append, nothing;

static id<MTLCommandBuffer> append_to(id<MTLCommandQueue> queue, id<MTLBuffer> log, uint32_t value) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  test_encode(commands, append, log, &value, sizeof value, 1);
  return commands;
}

static bool in_order(const uint32_t *log, uint32_t count) {
  bool good = log[0] == count;
  for (uint32_t i = 1; i <= count; i++) good = good && log[i] == i;
  return good;
}

static void check_order(void) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLBuffer> log = test_buffer(device, 8192);
  id<MTLCommandBuffer> last = nil;
  for (uint32_t i = 1; i <= 1000; i++) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    [last release];
    last = [append_to(queue, log, i) retain];
    [last commit];
    [pool release];
  }
  [last waitUntilCompleted];
  [last release];
  CHECK("a thousand run in the order of their commits", in_order([log contents], 1000));
  [log release];
  [queue release];
}

static void check_enqueue(void) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLBuffer> log = test_buffer(device, 64);
  id<MTLCommandBuffer> first = append_to(queue, log, 1), second = append_to(queue, log, 2);
  id<MTLCommandBuffer> dropped = [[queue commandBuffer] retain];
  [first enqueue];
  [dropped enqueue];
  [second commit];
  test_sleep_milliseconds(20);
  CHECK("an enqueued one keeps its place", *(uint32_t *)[log contents] == 0);
  [first commit];
  [first waitUntilCompleted];
  CHECK("what was enqueued first runs first", ((uint32_t *)[log contents])[1] == 1);
  CHECK("a later one waits for one between", [second status] < MTLCommandBufferStatusCompleted);
  [dropped release];
  [second enqueue];
  [log release];
  [queue release];
}

static void check_dropped(void) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLBuffer> log = test_buffer(device, 64);
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  [[queue commandBuffer] enqueue];
  id<MTLCommandBuffer> second = [append_to(queue, log, 1) retain];
  [second commit];
  [pool release];
  CHECK("one enqueued and given up holds nothing up", test_completes(second) && in_order([log contents], 1));
  [second release];
  [log release];
  [queue release];
}

static void check_concurrency(void) {
  id<MTLCommandQueue> slow = [device newCommandQueue], quick = [device newCommandQueue];
  id<MTLBuffer> words = test_buffer(device, 8), log = test_buffer(device, 64);
  uint32_t *open = [words contents];
  id<MTLCommandBuffer> blocked = [slow commandBuffer], other = append_to(quick, log, 1);
  test_encode(blocked, gate, words, NULL, 0, 1);
  [blocked commit];
  [other commit];
  CHECK("another queue's work overtakes a slow one's", test_completes(other) && [blocked status] < MTLCommandBufferStatusCompleted);
  __atomic_store_n(&open[0], 1, __ATOMIC_RELEASE);
  [blocked waitUntilCompleted];
  CHECK("the slow one completes", open[1] == 1);
  [words release];
  [log release];
  [slow release];
  [quick release];
}

typedef struct taker {
  id<MTLCommandQueue> queue;
  uint32_t taken;
} taker;

static void *take_one(void *argument) {
  taker *self = argument;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id<MTLCommandBuffer> commands = [self->queue commandBuffer];
  __atomic_store_n(&self->taken, commands != nil, __ATOMIC_RELEASE);
  [pool release];
  return NULL;
}

static void check_limit(void) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id<MTLCommandBuffer> commands[64];
  for (int i = 0; i < 64; i++) commands[i] = [queue commandBuffer];
  taker taker = {queue, 0};
  uint64_t waits = softmetal_testing_command_buffer_waits();
  pthread_t thread;
  pthread_create(&thread, NULL, take_one, &taker);
  test_sleep_milliseconds(50);
  CHECK("which is counted", softmetal_testing_command_buffer_waits() == waits + 1);
  CHECK("the 65th uncompleted one waits", __atomic_load_n(&taker.taken, __ATOMIC_ACQUIRE) == 0);
  test_encode(commands[0], nothing, nil, NULL, 0, 1);
  [commands[0] commit];
  pthread_join(thread, NULL);
  CHECK("until one has completed", taker.taken == 1);
  [pool release];
  [queue release];
  CHECK("a limit of 0 is refused", [device newCommandQueueWithMaxCommandBufferCount:0] == nil);
  queue = [device newCommandQueueWithMaxCommandBufferCount:1];
  for (int i = 0; i < 10; i++) {
    pool = [[NSAutoreleasePool alloc] init];
    [[queue commandBuffer] commit];
    [pool release];
  }
  CHECK("a limit of 1 serves one after the other", true);
  [queue release];
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  device = test_device(2);
  gate = test_pipeline(device, "gate");
  append = test_pipeline(device, "append");
  nothing = test_pipeline(device, "nothing");
  check_order();
  check_enqueue();
  check_dropped();
  check_concurrency();
  check_limit();
  [pool release];
  return test_result();
}
