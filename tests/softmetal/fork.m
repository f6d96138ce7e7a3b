#include "support.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0 when a child of fork() can neither use what it inherited nor hangs on it. */
static int child(id<MTLDevice> device, id<MTLCommandQueue> queue, id<MTLCommandBuffer> pending, id<MTLCommandBuffer> open) {
  alarm(20);
  if ([device newCommandQueue] != nil || [queue commandBuffer] != nil) return 1;
  if (MTLCreateSystemDefaultDevice() != nil) return 2;
  if ([device newLibraryWithSource:[NSString stringWithUTF8String:TEST_SOURCE] options:nil error:NULL] != nil) return 3;
  [pending waitUntilCompleted];
  [open computeCommandEncoder];
  [open commit];
  [open waitUntilCompleted];
  if ([open status] == MTLCommandBufferStatusCompleted) return 4;
  id<MTLSharedEvent> event = [device newSharedEvent];
  if ([event waitUntilSignaledValue:1 timeoutMS:UINT64_MAX]) return 5;
  [event release];
  [open release];
  [pending release];
  [queue release];
  [device release];
  for (int i = 0; i < 1000; i++) [[NSObject new] release];
  return 0;
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id<MTLDevice> device = test_device(2);
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLComputePipelineState> gate = test_pipeline(device, "gate");
  id<MTLBuffer> words = test_buffer(device, 8);
  id<MTLCommandBuffer> pending = [[queue commandBuffer] retain], open = [[queue commandBuffer] retain];
  test_encode(pending, gate, words, NULL, 0, 1);
  [pending commit];
  pid_t pid = fork();
  if (pid == 0) _exit(child(device, queue, pending, open));
  int status = -1;
  waitpid(pid, &status, 0);
  CHECK("a forked child neither uses nor hangs", WIFEXITED(status) && WEXITSTATUS(status) == 0);
  __atomic_store_n((uint32_t *)[words contents], 1, __ATOMIC_RELEASE);
  [pending waitUntilCompleted];
  CHECK("the parent goes on", [pending status] == MTLCommandBufferStatusCompleted);
  [open release];
  [pending release];
  [words release];
  [gate release];
  [queue release];
  [device release];
  [pool release];
  return test_result();
}
