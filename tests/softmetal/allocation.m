#include "support.h"

#include <string.h>

static uint64_t allocations;

/* A sanitizer's malloc cannot be replaced, and its objects come from malloc on purpose. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_memalign(alignment, size);
}
#define COUNTED true
#else
#define COUNTED false
#endif

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;
static id<MTLComputePipelineState> add;
static id<MTLBuffer> buffers[8];

static void call(bool retained, bool wait, NSUInteger groups) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  float one = 1;
  id<MTLCommandBuffer> commands = retained ? [queue commandBuffer] : [queue commandBufferWithUnretainedReferences];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:add];
  for (NSUInteger i = 0; i < 8; i++) [encoder setBuffer:buffers[i] offset:0 atIndex:i];
  [encoder setBytes:&one length:sizeof one atIndex:1];
  [encoder dispatchThreadgroups:test_size(groups) threadsPerThreadgroup:test_size(1)];
  [encoder endEncoding];
  [commands commit];
  if (wait) [commands waitUntilCompleted];
  [pool release];
}

static uint64_t allocations_of(int count, bool wait) {
  uint64_t before = __atomic_load_n(&allocations, __ATOMIC_RELAXED);
  for (int i = 0; i < count; i++) call(i % 2 == 0, wait, i % 7 == 0 ? 4000 : 1);
  return __atomic_load_n(&allocations, __ATOMIC_RELAXED) - before;
}

/* As many uncompleted command buffers as a queue allows. */
static void fill_queue(void) {
  id<MTLSharedEvent> event = [device newSharedEvent];
  for (int i = 0; i < 64; i++) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands encodeWaitForEvent:event value:1];
    [[commands computeCommandEncoder] endEncoding];
    [commands commit];
    [pool release];
  }
  [event setSignaledValue:1];
  [event release];
}

int main(void) {
  device = test_device(2);
  queue = [device newCommandQueue];
  add = test_pipeline(device, "add");
  for (int i = 0; i < 8; i++) buffers[i] = test_buffer(device, 16384);
  uint64_t before = allocations;
  NSString *string = [[NSString alloc] initWithUTF8String:"x"];
  CHECK("the counter counts", string != nil && (!COUNTED || allocations > before));
  [string release];
  allocations_of(10, true);
  CHECK("a call allocates nothing once ten were made", allocations_of(5000, true) == 0);
  fill_queue();
  call(true, true, 1);
  CHECK("nor does one that is not waited for, once the queue was full", allocations_of(5000, false) == 0);
  call(true, true, 1);
  CHECK("every call ran", *(float *)[buffers[0] contents] == 10012);
  return test_result();
}
