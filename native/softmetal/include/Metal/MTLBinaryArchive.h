#ifndef SOFTMETAL_MTLBINARYARCHIVE_H
#define SOFTMETAL_MTLBINARYARCHIVE_H

#import <Metal/MTLComputePipeline.h>

@class NSURL;

extern NSErrorDomain const MTLBinaryArchiveDomain;

typedef NSUInteger MTLBinaryArchiveError;
enum {
  MTLBinaryArchiveErrorNone = 0,
  MTLBinaryArchiveErrorInvalidFile = 1,
  MTLBinaryArchiveErrorUnexpectedElement = 2,
  MTLBinaryArchiveErrorCompilationFailure = 3,
  MTLBinaryArchiveErrorInternalError = 4,
};

/* Without a url an empty archive is made, else the one of that file is loaded. */
@interface MTLBinaryArchiveDescriptor : NSObject {
  NSURL *url;
}
- (NSURL *)url;
- (void)setUrl:(NSURL *)fileURL;
@end

/* Used by one thread at a time. */
@protocol MTLBinaryArchive <NSObject>
- (id<MTLDevice>)device;
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
@end

#endif
