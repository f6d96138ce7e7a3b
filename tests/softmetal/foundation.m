#include "support.h"

#include <string.h>

@interface Probe : NSObject
@end

static int probes;

@implementation Probe
- (id)init {
  probes++;
  return self;
}
- (void)dealloc {
  probes--;
  [super dealloc];
}
@end

static void check_counts(void) {
  Probe *probe = [[Probe alloc] init];
  CHECK("a new object has one reference", [probe retainCount] == 1);
  CHECK("retain returns the object", [probe retain] == probe && [probe retainCount] == 2);
  [probe release];
  [probe release];
  CHECK("the last release deallocates", probes == 0);
  CHECK("a constant string is never released", [@"x" retain] == [@"x" autorelease]);
  [@"x" release];
}

static void check_pools(void) {
  NSAutoreleasePool *outer = [[NSAutoreleasePool alloc] init];
  for (int i = 0; i < 2000; i++) [[Probe new] autorelease];
  NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
  for (int i = 0; i < 3; i++) [[Probe new] autorelease];
  CHECK("autoreleased objects stay until their pool ends", probes == 2003);
  [inner drain];
  CHECK("an inner pool ends its own objects alone", probes == 2000);
  inner = [[NSAutoreleasePool alloc] init];
  [[Probe new] autorelease];
  [outer release];
  CHECK("an outer pool ends an inner one's objects too", probes == 0);
  [inner release];
  CHECK("an inner pool that ends late does no harm", probes == 0);
}

static void check_strings(void) {
  NSString *made = [NSString stringWithUTF8String:"abc"];
  CHECK("strings equal by content", [made isEqualToString:@"abc"] && [@"abc" isEqual:made] && [made hash] == [@"abc" hash]);
  CHECK("strings differ by content", ![made isEqualToString:@"abd"] && ![made isEqual:nil] && ![made isEqual:[Probe class]]);
  CHECK("hasPrefix", [made hasPrefix:@"ab"] && ![made hasPrefix:@"b"] && [made hasPrefix:@""]);
  CHECK("length counts UTF-16 units", [[NSString stringWithUTF8String:TEST_SOURCE] length] == strlen("kernels of the tests, ") + 3);
  CHECK("text that is not UTF-8 gives nil", [NSString stringWithUTF8String:"\xff"] == nil && [NSString stringWithUTF8String:"\xc3"] == nil);
  CHECK("UTF8String", strcmp([made UTF8String], "abc") == 0 && strcmp([@"const" UTF8String], "const") == 0);
}

static void check_objects(void) {
  Probe *probe = [[Probe new] autorelease];
  CHECK("isKindOfClass", [probe isKindOfClass:[NSObject class]] && ![probe isKindOfClass:[NSString class]]);
  CHECK("respondsToSelector", [probe respondsToSelector:@selector(retain)] && ![probe respondsToSelector:@selector(UTF8String)]);
  CHECK("conformsToProtocol", [probe conformsToProtocol:@protocol(NSObject)] && ![probe conformsToProtocol:@protocol(MTLBuffer)]);
  CHECK("description names the class", strstr([[probe description] UTF8String], "Probe") != NULL);
}

static void check_collections(void) {
  NSArray *array = [NSArray arrayWithObject:@"one"];
  CHECK("array", [array count] == 1 && [[array objectAtIndex:0] isEqual:@"one"] && [array objectAtIndex:1] == nil);
  NSDictionary *dictionary = [NSDictionary dictionaryWithObject:@"value" forKey:NSLocalizedDescriptionKey];
  CHECK("dictionary", [[dictionary objectForKey:NSLocalizedDescriptionKey] isEqual:@"value"] && [dictionary objectForKey:@"k"] == nil);
  NSError *error = [NSError errorWithDomain:@"domain" code:7 userInfo:dictionary];
  CHECK("error", [error code] == 7 && [[error domain] isEqual:@"domain"] && [[error localizedDescription] isEqual:@"value"]);
  CHECK("error without a text", test_says([NSError errorWithDomain:@"domain" code:7 userInfo:nil], "domain|7"));
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  check_counts();
  check_pools();
  check_strings();
  check_objects();
  check_collections();
  [pool release];
  return test_result();
}
