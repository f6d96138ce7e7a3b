#ifndef SOFTMETAL_NSSTRING_H
#define SOFTMETAL_NSSTRING_H

#import <Foundation/NSObject.h>

/* Immutable UTF-8; length counts UTF-16 units. */
@interface NSString : NSObject
+ (id)stringWithUTF8String:(const char *)nullTerminatedCString;
- (id)initWithUTF8String:(const char *)nullTerminatedCString;
- (const char *)UTF8String;
- (NSUInteger)length;
- (BOOL)isEqualToString:(NSString *)aString;
- (BOOL)hasPrefix:(NSString *)str;
- (id)copy;
@end

/* What the compiler makes of @"...". */
@interface NSConstantString : NSString {
  char *bytes;
  unsigned byteCount;
}
@end

#endif
