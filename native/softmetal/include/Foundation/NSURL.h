#ifndef SOFTMETAL_NSURL_H
#define SOFTMETAL_NSURL_H

#import <Foundation/NSString.h>

/* Of files alone. */
@interface NSURL : NSObject {
  NSString *path;
}
+ (NSURL *)fileURLWithPath:(NSString *)path;
- (NSString *)path;
@end

#endif
