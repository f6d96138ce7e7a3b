#ifndef SOFTMETAL_NSARRAY_H
#define SOFTMETAL_NSARRAY_H

#import <Foundation/NSObject.h>

@interface NSArray : NSObject {
  NSUInteger count;
  id *objects;
}
+ (id)arrayWithObjects:(const id *)objects count:(NSUInteger)cnt;
+ (id)arrayWithObject:(id)anObject;
- (NSUInteger)count;
/* nil beyond the end, where Apple's raises. */
- (id)objectAtIndex:(NSUInteger)index;
@end

#endif
