#import <Foundation/Foundation.h>
#include <stdlib.h>
#include <string.h>

/* UTF-16 units of UTF-8 text; -1 where it is not UTF-8. */
static long utf16_length(const char *text) {
  long units = 0;
  const unsigned char *at = (const unsigned char *)text;
  while (*at != 0) {
    int more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : *at >= 0xe0 && *at < 0xf0 ? 2 : *at >= 0xf0 && *at < 0xf5 ? 3 : -1;
    if (more < 0) return -1;
    for (int i = 1; i <= more; i++) {
      if ((at[i] & 0xc0) != 0x80) return -1;
    }
    at += more + 1;
    units += more == 3 ? 2 : 1;
  }
  return units;
}

/* Of text made at run time. */
@interface SoftmetalString : NSString {
  char *text;
  NSUInteger units;
}
@end

@implementation NSString

+ (id)alloc {
  return self == [NSString class] ? [SoftmetalString alloc] : [super alloc];
}

+ (id)stringWithUTF8String:(const char *)nullTerminatedCString {
  return [[[self alloc] initWithUTF8String:nullTerminatedCString] autorelease];
}

- (id)initWithUTF8String:(const char *)nullTerminatedCString {
  (void)nullTerminatedCString;
  [self release];
  return nil;
}

- (const char *)UTF8String {
  return "";
}

- (NSUInteger)length {
  return (NSUInteger)utf16_length([self UTF8String]);
}

- (BOOL)isEqualToString:(NSString *)aString {
  return aString != nil && strcmp([self UTF8String], [aString UTF8String]) == 0;
}

- (BOOL)hasPrefix:(NSString *)str {
  const char *prefix = [str UTF8String];
  return prefix != NULL && strncmp([self UTF8String], prefix, strlen(prefix)) == 0;
}

- (BOOL)isEqual:(id)object {
  return self == object || ([object isKindOfClass:[NSString class]] && [self isEqualToString:object]);
}

- (NSUInteger)hash {
  NSUInteger hash = 14695981039346656037u;
  for (const char *at = [self UTF8String]; *at != 0; at++) hash = (hash ^ (unsigned char)*at) * 1099511628211u;
  return hash;
}

- (id)copy {
  return [self retain];
}

- (NSString *)description {
  return self;
}

@end

@implementation SoftmetalString

- (id)initWithUTF8String:(const char *)nullTerminatedCString {
  long length = nullTerminatedCString != NULL ? utf16_length(nullTerminatedCString) : -1;
  if (length >= 0) text = strdup(nullTerminatedCString);
  if (text == NULL) {
    [self release];
    return nil;
  }
  units = (NSUInteger)length;
  return self;
}

- (void)dealloc {
  free(text);
  [super dealloc];
}

- (const char *)UTF8String {
  return text;
}

- (NSUInteger)length {
  return units;
}

@end

@implementation NSConstantString

- (const char *)UTF8String {
  return bytes;
}

- (id)retain {
  return self;
}

- (oneway void)release {
}

- (id)autorelease {
  return self;
}

- (NSUInteger)retainCount {
  return NSUIntegerMax;
}

@end
