#ifndef SOFTMETAL_DEVICE_H
#define SOFTMETAL_DEVICE_H

#import <Metal/Metal.h>

#include "execution/family.h"
#include "execution/workers.h"

@interface SoftmetalDevice : NSObject <MTLDevice> {
 @public
  const softmetal_family *family;
  const char *const *instruction_sets; /* that it may use, best first, NULL-terminated */
  workers *team;
  NSUInteger maxBufferLength;
  uint32_t maxThreads; /* per threadgroup, of any pipeline */
  const char *name;
}
@end

/* +1; nil with *reason, a static string. threads: workers, 0 for one a core. */
SoftmetalDevice *softmetal_device_open(const char *family, uint32_t threads, const char **reason);

#endif
