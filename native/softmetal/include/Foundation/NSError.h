#ifndef SOFTMETAL_NSERROR_H
#define SOFTMETAL_NSERROR_H

#import <Foundation/NSObject.h>

@class NSString, NSDictionary;

typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;

extern NSErrorUserInfoKey const NSLocalizedDescriptionKey;

@interface NSError : NSObject {
  NSErrorDomain domain;
  NSInteger code;
  NSDictionary *userInfo;
}
+ (id)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)dict;
- (id)initWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)dict;
- (NSErrorDomain)domain;
- (NSInteger)code;
- (NSDictionary *)userInfo;
- (NSString *)localizedDescription;
@end

#endif
