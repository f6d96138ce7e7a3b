#import <Foundation/Foundation.h>
#include <stdio.h>

#include "foundation/allocate.h"
#include "foundation/autorelease.h"

@implementation NSObject

+ (id)alloc {
  NSObject *object = softmetal_allocate(class_getInstanceSize(self));
  if (object != nil) object_setClass(object, self);
  return object;
}

+ (id)new {
  return [[self alloc] init];
}

+ (Class)class {
  return self;
}

- (id)init {
  return self;
}

- (void)dealloc {
  softmetal_deallocate(self);
}

- (id)retain {
  __atomic_fetch_add(&header_of(self)->references, 1, __ATOMIC_RELAXED);
  return self;
}

- (oneway void)release {
  if (__atomic_fetch_sub(&header_of(self)->references, 1, __ATOMIC_ACQ_REL) == 1) [self dealloc];
}

- (id)autorelease {
  softmetal_autorelease(self);
  return self;
}

- (NSUInteger)retainCount {
  return __atomic_load_n(&header_of(self)->references, __ATOMIC_RELAXED);
}

- (Class)class {
  return object_getClass(self);
}

- (BOOL)isKindOfClass:(Class)aClass {
  for (Class class = object_getClass(self); class != Nil; class = class_getSuperclass(class)) {
    if (class == aClass) return YES;
  }
  return NO;
}

- (BOOL)respondsToSelector:(SEL)aSelector {
  return class_respondsToSelector(object_getClass(self), aSelector);
}

- (BOOL)conformsToProtocol:(Protocol *)aProtocol {
  for (Class class = object_getClass(self); class != Nil; class = class_getSuperclass(class)) {
    if (class_conformsToProtocol(class, aProtocol)) return YES;
  }
  return NO;
}

- (BOOL)isEqual:(id)object {
  return self == object;
}

- (NSUInteger)hash {
  return (NSUInteger)self >> 4;
}

- (NSString *)description {
  char text[256];
  snprintf(text, sizeof text, "<%s: %p>", class_getName(object_getClass(self)), (void *)self);
  return [NSString stringWithUTF8String:text];
}

@end
