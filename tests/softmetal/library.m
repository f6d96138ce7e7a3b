#include "support.h"

#include <string.h>

static id<MTLLibrary> library_of(id<MTLDevice> device, const char *source, NSError **error) {
  return [[device newLibraryWithSource:[NSString stringWithUTF8String:source] options:nil error:error] autorelease];
}

static void check_source(id<MTLDevice> device) {
  NSError *error = nil;
  id<MTLLibrary> library = library_of(device, TEST_SOURCE, &error);
  CHECK("a known text is found", library != nil && error == nil);
  CHECK("functions are listed", [[library functionNames] count] == 8 && [[[library functionNames] objectAtIndex:0] isEqual:@"add"]);
  CHECK("an unknown text is a compile failure", library_of(device, "kernel void f() {}", &error) == nil &&
                                                    [error code] == MTLLibraryErrorCompileFailure &&
                                                    [[error domain] isEqual:MTLLibraryErrorDomain] && test_says(error, "cpu|ahead of time"));
  CHECK("another width's text is one too", library_of(device, TEST_WIDE_SOURCE, NULL) == nil);
  MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
  [options setLanguageVersion:MTLLanguageVersion3_0];
  error = nil;
  CHECK("a language version without bfloat is one too",
        [device newLibraryWithSource:[NSString stringWithUTF8String:TEST_SOURCE] options:options error:&error] == nil &&
            test_says(error, "languageVersion|0x30000"));
  CHECK("no text is one too", [device newLibraryWithSource:nil options:nil error:&error] == nil && test_says(error, "source"));
}

static bool compiles(id<MTLDevice> device, BOOL fast, MTLMathMode mode, MTLMathFloatingPointFunctions functions) {
  MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
  [options setFastMathEnabled:fast];
  [options setMathMode:mode];
  [options setMathFloatingPointFunctions:functions];
  return [[device newLibraryWithSource:[NSString stringWithUTF8String:TEST_SOURCE] options:options error:NULL] autorelease] != nil;
}

static void check_math(id<MTLDevice> device) {
  enum { FAST = MTLMathFloatingPointFunctionsFast, PRECISE = MTLMathFloatingPointFunctionsPrecise };
  softmetal_testing_set_macos(14);
  CHECK("macOS 14 lacks mathMode", ![[[[MTLCompileOptions alloc] init] autorelease] respondsToSelector:@selector(setMathMode:)]);
  CHECK("macOS 14 judges by fastMathEnabled", compiles(device, NO, MTLMathModeFast, FAST) && !compiles(device, YES, MTLMathModeSafe, PRECISE));
  softmetal_testing_set_macos(15);
  CHECK("macOS 15 has mathMode", [[[[MTLCompileOptions alloc] init] autorelease] respondsToSelector:@selector(setMathMode:)]);
  CHECK("macOS 15 judges by mathMode", compiles(device, YES, MTLMathModeSafe, PRECISE) && !compiles(device, NO, MTLMathModeFast, PRECISE) &&
                                           !compiles(device, NO, MTLMathModeRelaxed, PRECISE));
  CHECK("and by its functions", !compiles(device, NO, MTLMathModeSafe, FAST));
  softmetal_testing_set_macos(0);
}

static id<MTLComputePipelineState> pipeline_of(id<MTLDevice> device, id<MTLFunction> function, NSError **error) {
  return [[device newComputePipelineStateWithFunction:function error:error] autorelease];
}

static void check_functions(id<MTLDevice> device) {
  id<MTLLibrary> library = library_of(device, TEST_SOURCE, NULL);
  NSError *error = nil;
  id<MTLFunction> function = [[library newFunctionWithName:@"add"] autorelease];
  CHECK("a function has its name", [[function name] isEqual:@"add"]);
  CHECK("an unknown function is nil", [library newFunctionWithName:@"nonesuch"] == nil);
  MTLFunctionConstantValues *none = [[[MTLFunctionConstantValues alloc] init] autorelease];
  CHECK("an unknown function is an error", [library newFunctionWithName:@"nonesuch" constantValues:none error:&error] == nil &&
                                               [error code] == MTLLibraryErrorFunctionNotFound && test_says(error, "nonesuch"));
  id<MTLComputePipelineState> pipeline = pipeline_of(device, function, &error);
  CHECK("a pipeline's limits", [pipeline threadExecutionWidth] == 1 && [pipeline maxTotalThreadsPerThreadgroup] == 1 &&
                                   [pipeline staticThreadgroupMemoryLength] == 0);
  CHECK("a pipeline of nil is an error", pipeline_of(device, nil, &error) == nil && error != nil);
  id<MTLDevice> other = test_device(1);
  CHECK("a pipeline of another device's function is an error", pipeline_of(other, function, &error) == nil && test_says(error, "another device"));
  [other release];
}

static void run(id<MTLDevice> device, id<MTLComputePipelineState> pipeline, id<MTLBuffer> buffer) {
  id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  test_encode(commands, pipeline, buffer, NULL, 0, 1);
  [commands commit];
  [commands waitUntilCompleted];
  CHECK("the kernel ran", [commands status] == MTLCommandBufferStatusCompleted);
}

static void check_constants(id<MTLDevice> device) {
  id<MTLLibrary> library = library_of(device, TEST_SOURCE, NULL);
  NSError *error = nil;
  id<MTLFunction> bare = [[library newFunctionWithName:@"constants"] autorelease];
  CHECK("no pipeline without constants", bare != nil && pipeline_of(device, bare, &error) == nil && test_says(error, "constants|constant 0"));
  MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
  uint32_t first = 0xfffffff0;
  [values setConstantValue:&first type:MTLDataTypeUInt atIndex:0];
  CHECK("a missing constant is named", [library newFunctionWithName:@"constants" constantValues:values error:&error] == nil &&
                                           [error code] == MTLLibraryErrorCompileFailure && test_says(error, "constant 1"));
  float wide[4] = {0};
  [values setConstantValue:wide type:MTLDataTypeFloat4 atIndex:1];
  CHECK("a type too wide is named", [library newFunctionWithName:@"constants" constantValues:values error:&error] == nil &&
                                        test_says(error, "constant 1|MTLDataType 6"));
  uint16_t second = 0xabcd;
  [values setConstantValue:&second type:MTLDataTypeUShort atIndex:1];
  id<MTLFunction> function = [[library newFunctionWithName:@"constants" constantValues:values error:&error] autorelease];
  first = 1;
  [values setConstantValue:&first type:MTLDataTypeUInt atIndex:0];
  id<MTLBuffer> buffer = test_buffer(device, 16);
  run(device, pipeline_of(device, function, &error), buffer);
  uint64_t *seen = [buffer contents];
  CHECK("values are copied at their size", seen[0] == 0xfffffff0 && seen[1] == 0xabcd);
  [buffer release];
}

static uint32_t level_with(const char *instruction_set) {
  softmetal_testing_set_instruction_set(instruction_set);
  id<MTLDevice> device = test_device(1);
  softmetal_testing_set_instruction_set(NULL);
  id<MTLLibrary> library = library_of(device, TEST_LEVELS_SOURCE, NULL);
  id<MTLFunction> function = [[library newFunctionWithName:@"level"] autorelease];
  id<MTLBuffer> buffer = test_buffer(device, 4);
  run(device, pipeline_of(device, function, NULL), buffer);
  uint32_t level = *(uint32_t *)[buffer contents];
  [buffer release];
  [device release];
  return level;
}

static void check_instruction_sets(void) {
  CHECK("baseline takes baseline", level_with("baseline") == 1);
#if defined(__x86_64__)
  __builtin_cpu_init();
  uint32_t best = __builtin_cpu_supports("avx512bw") ? 3 : __builtin_cpu_supports("avx2") ? 2 : 1;
  CHECK("the best that the CPU has is taken", level_with(NULL) == best);
  if (best > 2) CHECK("avx2 takes avx2", level_with("avx2") == 2);
#else
  CHECK("the best that the CPU has is taken", level_with(NULL) == 1);
#endif
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id<MTLDevice> device = test_device(1);
  check_source(device);
  check_math(device);
  check_functions(device);
  check_constants(device);
  check_instruction_sets();
  [device release];
  [pool release];
  return test_result();
}
