#import <Foundation/Foundation.h>
#include <stdio.h>

NSErrorUserInfoKey const NSLocalizedDescriptionKey = @"NSLocalizedDescription";

@implementation NSError

+ (id)errorWithDomain:(NSErrorDomain)aDomain code:(NSInteger)aCode userInfo:(NSDictionary *)dict {
  return [[[self alloc] initWithDomain:aDomain code:aCode userInfo:dict] autorelease];
}

- (id)initWithDomain:(NSErrorDomain)aDomain code:(NSInteger)aCode userInfo:(NSDictionary *)dict {
  domain = [aDomain copy];
  code = aCode;
  userInfo = [dict retain];
  return self;
}

- (void)dealloc {
  [domain release];
  [userInfo release];
  [super dealloc];
}

- (NSErrorDomain)domain {
  return domain;
}

- (NSInteger)code {
  return code;
}

- (NSDictionary *)userInfo {
  return userInfo;
}

- (NSString *)localizedDescription {
  NSString *given = [userInfo objectForKey:NSLocalizedDescriptionKey];
  if (given != nil) return given;
  char text[256];
  snprintf(text, sizeof text, "The operation could not be completed. (%s error %ld.)", [domain UTF8String], code);
  return [NSString stringWithUTF8String:text];
}

- (NSString *)description {
  char text[1024];
  snprintf(text, sizeof text, "Error Domain=%s Code=%ld \"%s\"", [domain UTF8String], code, [[self localizedDescription] UTF8String]);
  return [NSString stringWithUTF8String:text];
}

@end
