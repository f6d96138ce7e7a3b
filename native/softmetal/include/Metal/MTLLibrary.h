#ifndef SOFTMETAL_MTLLIBRARY_H
#define SOFTMETAL_MTLLIBRARY_H

#import <Metal/MTLArgument.h>

@protocol MTLDevice;

typedef NSUInteger MTLLanguageVersion;
enum {
  MTLLanguageVersion1_0 = 65536,
  MTLLanguageVersion1_1 = 65537,
  MTLLanguageVersion1_2 = 65538,
  MTLLanguageVersion2_0 = 131072,
  MTLLanguageVersion2_1 = 131073,
  MTLLanguageVersion2_2 = 131074,
  MTLLanguageVersion2_3 = 131075,
  MTLLanguageVersion2_4 = 131076,
  MTLLanguageVersion3_0 = 196608,
  MTLLanguageVersion3_1 = 196609,
  MTLLanguageVersion3_2 = 196610,
  MTLLanguageVersion4_0 = 262144,
};

typedef NSInteger MTLMathMode; /* macOS 15 */
enum {
  MTLMathModeSafe = 0,
  MTLMathModeRelaxed = 1,
  MTLMathModeFast = 2,
};

typedef NSInteger MTLMathFloatingPointFunctions; /* macOS 15 */
enum {
  MTLMathFloatingPointFunctionsFast = 0,
  MTLMathFloatingPointFunctionsPrecise = 1,
};

extern NSErrorDomain const MTLLibraryErrorDomain;

typedef NSUInteger MTLLibraryError;
enum {
  MTLLibraryErrorUnsupported = 1,
  MTLLibraryErrorInternal = 2,
  MTLLibraryErrorCompileFailure = 3,
  MTLLibraryErrorCompileWarning = 4,
  MTLLibraryErrorFunctionNotFound = 5,
  MTLLibraryErrorFileNotFound = 6,
};

/* Answers to mathMode and mathFloatingPointFunctions as macOS 15 does, unless a test sets an older macOS. */
@interface MTLCompileOptions : NSObject {
  MTLLanguageVersion languageVersion;
  BOOL fastMathEnabled;
  MTLMathMode mathMode;
  MTLMathFloatingPointFunctions mathFloatingPointFunctions;
}
- (MTLLanguageVersion)languageVersion;
- (void)setLanguageVersion:(MTLLanguageVersion)version;
- (BOOL)fastMathEnabled;
- (void)setFastMathEnabled:(BOOL)enabled;
- (MTLMathMode)mathMode;
- (void)setMathMode:(MTLMathMode)mode;
- (MTLMathFloatingPointFunctions)mathFloatingPointFunctions;
- (void)setMathFloatingPointFunctions:(MTLMathFloatingPointFunctions)functions;
@end

/* Constants beyond index 15 are taken and never read: no kernel here declares one. */
@interface MTLFunctionConstantValues : NSObject {
  uint64_t values[16];
  uint32_t given;
  MTLDataType unsupported[16];
}
- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index;
@end

@protocol MTLFunction <NSObject>
- (id<MTLDevice>)device;
- (NSString *)name;
@end

@protocol MTLLibrary <NSObject>
- (id<MTLDevice>)device;
- (NSArray *)functionNames;
/* nil when the library has no such function. */
- (id<MTLFunction>)newFunctionWithName:(NSString *)functionName;
- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)constantValues
                                 error:(NSError **)error;
@end

#endif
