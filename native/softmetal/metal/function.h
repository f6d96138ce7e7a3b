#ifndef SOFTMETAL_FUNCTION_H
#define SOFTMETAL_FUNCTION_H

#include "metal/library.h"

@interface SoftmetalFunction : NSObject <MTLFunction> {
 @public
  SoftmetalLibrary *library;
  const softmetal_kernel *kernel;
  uint64_t constants[SOFTMETAL_CONSTANTS];
  uint32_t given; /* bit n: constant n has a value */
}
@end

/* The lowest constant that the kernel declares and that has no value, or -1. */
int softmetal_missing_constant(const softmetal_kernel *kernel, uint32_t given);

#endif
