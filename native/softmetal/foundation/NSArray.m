#import <Foundation/Foundation.h>
#include <stdlib.h>

@implementation NSArray

+ (id)arrayWithObjects:(const id *)given count:(NSUInteger)cnt {
  NSArray *array = [[self alloc] init];
  if (array == nil) return nil;
  array->objects = malloc((cnt > 0 ? cnt : 1) * sizeof(id));
  if (array->objects == NULL) {
    [array release];
    return nil;
  }
  for (NSUInteger i = 0; i < cnt; i++) array->objects[i] = [given[i] retain];
  array->count = cnt;
  return [array autorelease];
}

+ (id)arrayWithObject:(id)anObject {
  return [self arrayWithObjects:&anObject count:1];
}

- (void)dealloc {
  for (NSUInteger i = 0; i < count; i++) [objects[i] release];
  free(objects);
  [super dealloc];
}

- (NSUInteger)count {
  return count;
}

- (id)objectAtIndex:(NSUInteger)index {
  return index < count ? objects[index] : nil;
}

@end
