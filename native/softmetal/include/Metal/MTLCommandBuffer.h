#ifndef SOFTMETAL_MTLCOMMANDBUFFER_H
#define SOFTMETAL_MTLCOMMANDBUFFER_H

#import <Foundation/Foundation.h>

@protocol MTLDevice, MTLCommandQueue, MTLComputeCommandEncoder, MTLEvent;

typedef NSUInteger MTLCommandBufferStatus;
enum {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5,
};

extern NSErrorDomain const MTLCommandBufferErrorDomain;

typedef NSUInteger MTLCommandBufferError;
enum {
  MTLCommandBufferErrorNone = 0,
  MTLCommandBufferErrorInternal = 1,
  MTLCommandBufferErrorTimeout = 2,
  MTLCommandBufferErrorPageFault = 3,
  MTLCommandBufferErrorAccessRevoked = 4,
  MTLCommandBufferErrorNotPermitted = 7,
  MTLCommandBufferErrorOutOfMemory = 8,
  MTLCommandBufferErrorInvalidResource = 9,
  MTLCommandBufferErrorMemoryless = 10,
  MTLCommandBufferErrorDeviceRemoved = 11,
  MTLCommandBufferErrorStackOverflow = 12,
};

@protocol MTLCommandBuffer <NSObject>
- (id<MTLDevice>)device;
- (id<MTLCommandQueue>)commandQueue;
- (BOOL)retainedReferences;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)enqueue;
- (void)commit;
- (void)waitUntilCompleted;
- (MTLCommandBufferStatus)status;
- (NSError *)error;
- (CFTimeInterval)GPUStartTime;
- (CFTimeInterval)GPUEndTime;
@end

#endif
