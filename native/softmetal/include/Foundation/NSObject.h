#ifndef SOFTMETAL_NSOBJECT_H
#define SOFTMETAL_NSOBJECT_H

#import <Foundation/NSObjCRuntime.h>

@class NSString;

@protocol NSObject
- (BOOL)isEqual:(id)object;
- (NSUInteger)hash;
- (Class)class;
- (id)retain;
- (oneway void)release;
- (id)autorelease;
- (NSUInteger)retainCount;
- (NSString *)description;
- (BOOL)isKindOfClass:(Class)aClass;
- (BOOL)respondsToSelector:(SEL)aSelector;
- (BOOL)conformsToProtocol:(Protocol *)aProtocol;
@end

/* The reference count stands in a word before the object: constant strings, which the compiler lays
 * out, have isa as their first word and no count. */
__attribute__((objc_root_class))
@interface NSObject <NSObject> {
  Class isa;
}
+ (id)alloc;
+ (id)new;
- (id)init;
- (void)dealloc;
+ (Class)class;
@end

#endif
