#ifndef SOFTMETAL_NSDICTIONARY_H
#define SOFTMETAL_NSDICTIONARY_H

#import <Foundation/NSObject.h>

/* One entry is all that errors need. */
@interface NSDictionary : NSObject {
  id key, object;
}
+ (id)dictionaryWithObject:(id)object forKey:(id)key;
- (NSUInteger)count;
- (id)objectForKey:(id)aKey;
@end

#endif
