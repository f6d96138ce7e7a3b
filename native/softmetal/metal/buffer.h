#ifndef SOFTMETAL_BUFFER_H
#define SOFTMETAL_BUFFER_H

#include "metal/device.h"

@interface SoftmetalBuffer : NSObject <MTLBuffer> {
 @public
  SoftmetalDevice *device;
  char *pointer;
  NSUInteger length;
  NSUInteger mapped; /* bytes to give back; 0: the caller's memory */
  MTLStorageMode storageMode;
}
@end

/* Page-aligned; what a new one holds is not defined. Both +1, nil where Metal refuses or memory runs out. */
SoftmetalBuffer *softmetal_buffer_new(SoftmetalDevice *device, NSUInteger length, MTLResourceOptions options);
SoftmetalBuffer *softmetal_buffer_wrap(SoftmetalDevice *device, void *pointer, NSUInteger length, MTLResourceOptions options);

#endif
