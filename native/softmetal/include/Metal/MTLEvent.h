#ifndef SOFTMETAL_MTLEVENT_H
#define SOFTMETAL_MTLEVENT_H

#import <Foundation/Foundation.h>

@protocol MTLDevice;

@protocol MTLEvent <NSObject>
- (id<MTLDevice>)device;
@end

@protocol MTLSharedEvent <MTLEvent>
- (uint64_t)signaledValue;
/* A value that is not larger than the present one changes nothing. */
- (void)setSignaledValue:(uint64_t)value;
/* NO when the time is over; UINT64_MAX waits for ever. */
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
@end

#endif
