#ifndef SOFTMETAL_MTLRESOURCE_H
#define SOFTMETAL_MTLRESOURCE_H

#import <Metal/MTLTypes.h>

@protocol MTLDevice;

typedef NSUInteger MTLStorageMode;
enum {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged = 1,
  MTLStorageModePrivate = 2,
  MTLStorageModeMemoryless = 3,
};

typedef NSUInteger MTLResourceOptions;
enum {
  MTLResourceCPUCacheModeDefaultCache = 0,
  MTLResourceCPUCacheModeWriteCombined = 1,
  MTLResourceStorageModeShared = 0,
  MTLResourceStorageModeManaged = 16,
  MTLResourceStorageModePrivate = 32,
  MTLResourceStorageModeMemoryless = 48,
  MTLResourceHazardTrackingModeDefault = 0,
  MTLResourceHazardTrackingModeUntracked = 256,
  MTLResourceHazardTrackingModeTracked = 512,
};

@protocol MTLResource <NSObject>
- (id<MTLDevice>)device;
- (MTLStorageMode)storageMode;
@end

#endif
