#ifndef SOFTMETAL_PIPELINE_H
#define SOFTMETAL_PIPELINE_H

#include "metal/device.h"

@interface SoftmetalPipeline : NSObject <MTLComputePipelineState> {
 @public
  SoftmetalDevice *device;
  const softmetal_kernel *kernel;
  uint64_t constants[SOFTMETAL_CONSTANTS];
  uint32_t maxThreads;         /* per threadgroup */
  uint64_t groupPicoseconds;   /* see softmetal_dispatch */
}
@end

/* +1 */
SoftmetalPipeline *softmetal_pipeline_new(SoftmetalDevice *device, id<MTLFunction> function, NSError **error);
/* +1. What one of the descriptor's archives holds costs nothing and is not counted as built. */
SoftmetalPipeline *softmetal_pipeline_described(SoftmetalDevice *device, MTLComputePipelineDescriptor *descriptor,
                                                MTLPipelineOption options, NSError **error);

#endif
