#ifndef SOFTMETAL_MTLCOMPUTEPIPELINE_H
#define SOFTMETAL_MTLCOMPUTEPIPELINE_H

#import <Foundation/Foundation.h>

@protocol MTLDevice;

@protocol MTLComputePipelineState <NSObject>
- (id<MTLDevice>)device;
- (NSUInteger)maxTotalThreadsPerThreadgroup;
- (NSUInteger)threadExecutionWidth;
- (NSUInteger)staticThreadgroupMemoryLength;
@end

#endif
