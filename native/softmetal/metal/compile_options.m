#include "metal/compile_options.h"

#include "hooks.h"

enum { MACOS_WITH_MATH_MODE = 15 };

@implementation MTLCompileOptions

- (id)init {
  languageVersion = MTLLanguageVersion3_1;
  fastMathEnabled = YES;
  mathMode = MTLMathModeFast;
  mathFloatingPointFunctions = MTLMathFloatingPointFunctionsFast;
  return self;
}

- (BOOL)respondsToSelector:(SEL)aSelector {
  bool new = sel_isEqual(aSelector, @selector(mathMode)) || sel_isEqual(aSelector, @selector(setMathMode:)) ||
             sel_isEqual(aSelector, @selector(mathFloatingPointFunctions)) ||
             sel_isEqual(aSelector, @selector(setMathFloatingPointFunctions:));
  return (!new || softmetal_hook_macos() >= MACOS_WITH_MATH_MODE) && [super respondsToSelector:aSelector];
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

- (MTLMathMode)mathMode {
  return mathMode;
}

- (void)setMathMode:(MTLMathMode)mode {
  mathMode = mode;
}

- (MTLMathFloatingPointFunctions)mathFloatingPointFunctions {
  return mathFloatingPointFunctions;
}

- (void)setMathFloatingPointFunctions:(MTLMathFloatingPointFunctions)functions {
  mathFloatingPointFunctions = functions;
}

@end

bool softmetal_options_safe(MTLCompileOptions *options) {
  if (softmetal_hook_macos() < MACOS_WITH_MATH_MODE) return ![options fastMathEnabled];
  return [options mathMode] == MTLMathModeSafe && [options mathFloatingPointFunctions] == MTLMathFloatingPointFunctionsPrecise;
}
