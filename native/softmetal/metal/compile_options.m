#import <Metal/Metal.h>

@implementation MTLCompileOptions

- (id)init {
  languageVersion = MTLLanguageVersion3_1;
  fastMathEnabled = YES;
  return self;
}

- (MTLLanguageVersion)languageVersion {
  return languageVersion;
}

- (void)setLanguageVersion:(MTLLanguageVersion)version {
  languageVersion = version;
}

- (BOOL)fastMathEnabled {
  return fastMathEnabled;
}

- (void)setFastMathEnabled:(BOOL)enabled {
  fastMathEnabled = enabled;
}

@end
