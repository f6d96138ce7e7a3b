#ifndef SOFTMETAL_MTLCOMPUTECOMMANDENCODER_H
#define SOFTMETAL_MTLCOMPUTECOMMANDENCODER_H

#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLTypes.h>

@protocol MTLBuffer, MTLComputePipelineState;

/* Serial: each dispatch sees what those before it wrote. */
@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)dispatchThreads:(MTLSize)threadsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
@end

#endif
