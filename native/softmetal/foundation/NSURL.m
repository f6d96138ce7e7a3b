#import <Foundation/Foundation.h>

@implementation NSURL

+ (NSURL *)fileURLWithPath:(NSString *)given {
  NSURL *url = [[self alloc] init];
  if (url != nil) url->path = [given copy];
  return [url autorelease];
}

- (void)dealloc {
  [path release];
  [super dealloc];
}

- (NSString *)path {
  return path;
}

@end
