#include "metal/command_queue.h"

#include "execution/fork.h"
#include "hooks.h"
#include "metal/command_buffer.h"

SoftmetalCommandQueue *softmetal_command_queue_new(SoftmetalDevice *device, NSUInteger limit) {
  if (softmetal_hook_fails() || softmetal_forked || limit == 0) return nil;
  SoftmetalCommandQueue *queue = [[SoftmetalCommandQueue alloc] init];
  if (queue == nil) return nil;
  queue->device = [device retain];
  softmetal_queue_init(&queue->queue, device->team, limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX);
  return queue;
}

@implementation SoftmetalCommandQueue

- (void)dealloc {
  softmetal_queue_end(&queue);
  [device release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return device;
}

- (id<MTLCommandBuffer>)commandBuffer {
  return [softmetal_command_buffer_new(self, YES) autorelease];
}

- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  return [softmetal_command_buffer_new(self, NO) autorelease];
}

@end
