#include "metal/shared_event.h"

#include "hooks.h"

SoftmetalSharedEvent *softmetal_shared_event_new(SoftmetalDevice *device) {
  if (softmetal_hook_fails()) return nil;
  SoftmetalSharedEvent *event = [[SoftmetalSharedEvent alloc] init];
  if (event != nil) event->device = [device retain];
  return event;
}

@implementation SoftmetalSharedEvent

- (void)dealloc {
  [device release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return device;
}

- (uint64_t)signaledValue {
  return softmetal_event_value(&event);
}

- (void)setSignaledValue:(uint64_t)value {
  softmetal_event_signal(&event, value);
}

- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
  return softmetal_event_wait(&event, value, milliseconds);
}

@end
