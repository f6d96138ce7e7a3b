#import <Foundation/Foundation.h>

@implementation NSDictionary

+ (id)dictionaryWithObject:(id)anObject forKey:(id)aKey {
  NSDictionary *dictionary = [[self alloc] init];
  if (dictionary == nil) return nil;
  dictionary->key = [aKey copy];
  dictionary->object = [anObject retain];
  return [dictionary autorelease];
}

- (void)dealloc {
  [key release];
  [object release];
  [super dealloc];
}

- (NSUInteger)count {
  return key != nil ? 1 : 0;
}

- (id)objectForKey:(id)aKey {
  return [key isEqual:aKey] ? object : nil;
}

@end
