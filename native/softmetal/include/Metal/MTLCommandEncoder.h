#ifndef SOFTMETAL_MTLCOMMANDENCODER_H
#define SOFTMETAL_MTLCOMMANDENCODER_H

#import <Foundation/Foundation.h>

@protocol MTLDevice;

typedef NSUInteger MTLBarrierScope;
enum {
  MTLBarrierScopeBuffers = 1,
  MTLBarrierScopeTextures = 2,
  MTLBarrierScopeRenderTargets = 4,
};

@protocol MTLCommandEncoder <NSObject>
- (id<MTLDevice>)device;
- (void)endEncoding;
@end

#endif
