#ifndef SOFTMETAL_SHARED_EVENT_H
#define SOFTMETAL_SHARED_EVENT_H

#include "execution/event.h"
#include "metal/device.h"

@interface SoftmetalSharedEvent : NSObject <MTLSharedEvent> {
 @public
  SoftmetalDevice *device;
  softmetal_event event;
}
@end

/* +1 */
SoftmetalSharedEvent *softmetal_shared_event_new(SoftmetalDevice *device);

#endif
