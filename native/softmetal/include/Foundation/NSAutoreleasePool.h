#ifndef SOFTMETAL_NSAUTORELEASEPOOL_H
#define SOFTMETAL_NSAUTORELEASEPOOL_H

#import <Foundation/NSObject.h>

/* Used by the thread that made it. */
@interface NSAutoreleasePool : NSObject {
  NSUInteger depth;
}
+ (void)addObject:(id)anObject;
- (void)drain;
@end

#endif
