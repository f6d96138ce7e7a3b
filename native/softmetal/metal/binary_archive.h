/* Which pipelines were built before: what stands for compiled code, as software Metal's is in the library already. */
#ifndef SOFTMETAL_BINARY_ARCHIVE_H
#define SOFTMETAL_BINARY_ARCHIVE_H

#include "metal/device.h"
#include "metal/function.h"

@interface SoftmetalBinaryArchive : NSObject <MTLBinaryArchive> {
 @public
  SoftmetalDevice *device;
  char *entries; /* lines, one a pipeline; the first is empty */
}
@end

/* +1: empty without a url, else of that file, which a device of another family, instruction set or version refuses. */
SoftmetalBinaryArchive *softmetal_binary_archive_new(SoftmetalDevice *device, MTLBinaryArchiveDescriptor *descriptor, NSError **error);
/* Whether some archive of the list, which may be nil, holds the function's pipeline: by library, name and constants. */
BOOL softmetal_binary_archives_hold(NSArray *archives, SoftmetalFunction *function);

#endif
