#ifndef SOFTMETAL_COMPUTE_ENCODER_H
#define SOFTMETAL_COMPUTE_ENCODER_H

#include "metal/command_buffer.h"
#include "metal/pipeline.h"

/* Pointers are resolved as they are bound: buffers do not move. */
@interface SoftmetalComputeEncoder : NSObject <MTLComputeCommandEncoder> {
 @public
  SoftmetalCommandBuffer *commandBuffer;
  SoftmetalPipeline *pipeline; /* kept by the command buffer, or by the caller */
  uint32_t bound;              /* bit n: buffer n is bound */
  BOOL ended;
  void *pointers[SOFTMETAL_BUFFERS];
  uint64_t lengths[SOFTMETAL_BUFFERS];
  uint32_t threadgroupMemory[SOFTMETAL_BUFFERS];
  uint32_t threadgroupMemorySum;
}
@end

/* +1 */
SoftmetalComputeEncoder *softmetal_compute_encoder_new(SoftmetalCommandBuffer *commandBuffer);

#endif
