#ifndef SOFTMETAL_MTLDEVICE_H
#define SOFTMETAL_MTLDEVICE_H

#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

@protocol MTLBinaryArchive, MTLBuffer, MTLCommandQueue, MTLComputePipelineState, MTLDevice, MTLFunction, MTLLibrary, MTLSharedEvent;
@class MTLBinaryArchiveDescriptor, MTLCompileOptions, MTLComputePipelineDescriptor, MTLComputePipelineReflection;

typedef NSUInteger MTLPipelineOption;
enum {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionFailOnBinaryArchiveMiss = 4,
};

typedef MTLComputePipelineReflection *MTLAutoreleasedComputePipelineReflection;

id<MTLDevice> MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;
NSArray *MTLCopyAllDevices(void) NS_RETURNS_RETAINED;

@protocol MTLDevice <NSObject>
- (NSString *)name;
- (MTLSize)maxThreadsPerThreadgroup;
- (NSUInteger)maxThreadgroupMemoryLength;
- (NSUInteger)maxBufferLength;
- (uint64_t)recommendedMaxWorkingSetSize;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytes:(const void *)pointer length:(NSUInteger)length options:(MTLResourceOptions)options;
/* GCC has no blocks, so the only deallocator that can be given is nil. */
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void *)deallocator;
- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                             error:(NSError **)error;
/* There is no reflection here: only NULL asks for none. */
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                                               error:(NSError **)error;
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor error:(NSError **)error;
- (id<MTLSharedEvent>)newSharedEvent;
@end

#endif
