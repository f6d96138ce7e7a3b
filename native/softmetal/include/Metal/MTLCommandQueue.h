#ifndef SOFTMETAL_MTLCOMMANDQUEUE_H
#define SOFTMETAL_MTLCOMMANDQUEUE_H

#import <Foundation/Foundation.h>

@protocol MTLDevice, MTLCommandBuffer;

@protocol MTLCommandQueue <NSObject>
- (id<MTLDevice>)device;
/* Both block while the queue's limit of uncompleted command buffers is reached. */
- (id<MTLCommandBuffer>)commandBuffer;
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
@end

#endif
