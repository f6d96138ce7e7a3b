#ifndef SOFTMETAL_MTLCOMPUTEPIPELINE_H
#define SOFTMETAL_MTLCOMPUTEPIPELINE_H

#import <Foundation/Foundation.h>

@protocol MTLDevice, MTLFunction;
@class NSArray;

/* binaryArchives are looked into, in their order, before anything is compiled. */
@interface MTLComputePipelineDescriptor : NSObject {
  id<MTLFunction> computeFunction;
  NSArray *binaryArchives;
}
- (id<MTLFunction>)computeFunction;
- (void)setComputeFunction:(id<MTLFunction>)function;
- (NSArray *)binaryArchives;
- (void)setBinaryArchives:(NSArray *)archives;
@end

@protocol MTLComputePipelineState <NSObject>
- (id<MTLDevice>)device;
- (NSUInteger)maxTotalThreadsPerThreadgroup;
- (NSUInteger)threadExecutionWidth;
- (NSUInteger)staticThreadgroupMemoryLength;
@end

#endif
