#ifndef SOFTMETAL_MTLBUFFER_H
#define SOFTMETAL_MTLBUFFER_H

#import <Metal/MTLResource.h>

@protocol MTLBuffer <MTLResource>
- (NSUInteger)length;
/* NULL in private storage. */
- (void *)contents;
@end

#endif
