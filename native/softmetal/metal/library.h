#ifndef SOFTMETAL_LIBRARY_H
#define SOFTMETAL_LIBRARY_H

#include "metal/device.h"

@interface SoftmetalLibrary : NSObject <MTLLibrary> {
 @public
  SoftmetalDevice *device;
  const softmetal_library *library;
}
@end

/* +1 */
SoftmetalLibrary *softmetal_library_new(SoftmetalDevice *device, NSString *source, MTLCompileOptions *options, NSError **error);
/* +1: what was compiled ahead of time from this text for the device. */
SoftmetalLibrary *softmetal_library_of(SoftmetalDevice *device, const char *source, NSError **error);

#endif
