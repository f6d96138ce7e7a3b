#ifndef SOFTMETAL_COMMAND_QUEUE_H
#define SOFTMETAL_COMMAND_QUEUE_H

#include "execution/queue.h"
#include "metal/device.h"

@interface SoftmetalCommandQueue : NSObject <MTLCommandQueue> {
 @public
  SoftmetalDevice *device;
  work_queue queue;
}
@end

/* +1; nil for a limit of 0. */
SoftmetalCommandQueue *softmetal_command_queue_new(SoftmetalDevice *device, NSUInteger limit);

#endif
