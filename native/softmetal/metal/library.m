#include "metal/library.h"

#include <stdlib.h>
#include <string.h>

#include "execution/fork.h"
#include "hooks.h"
#include "metal/compile_options.h"
#include "metal/constant_values.h"
#include "metal/errors.h"
#include "metal/function.h"
#include "metal/registry.h"

SoftmetalLibrary *softmetal_library_new(SoftmetalDevice *device, NSString *source, MTLCompileOptions *options, NSError **error) {
  const MTLLibraryError failure = MTLLibraryErrorCompileFailure;
  if (softmetal_forked) {
    softmetal_error_give(error, MTLLibraryErrorDomain, failure, "this process was forked after its parent opened a device");
    return nil;
  }
  if (softmetal_hook_fails()) {
    softmetal_error_give(error, MTLLibraryErrorDomain, failure, "newLibraryWithSource: failed for a test%s", softmetal_hook_compile_log());
    return nil;
  }
  if (source == nil) {
    softmetal_error_give(error, MTLLibraryErrorDomain, failure, "source: nil, expected the text of a library");
    return nil;
  }
  MTLLanguageVersion version = options != nil ? [options languageVersion] : MTLLanguageVersion3_1;
  if (version < MTLLanguageVersion3_1 || version > MTLLanguageVersion4_0) {
    softmetal_error_give(error, MTLLibraryErrorDomain, failure, "languageVersion: 0x%lx, expected MSL 3.1 (0x30001) to 4.0 (0x40000)",
                         version);
    return nil;
  }
  if (options != nil && !softmetal_options_safe(options)) {
    softmetal_error_give(error, MTLLibraryErrorDomain, failure, "options: fast math, expected %s: these kernels are compiled so",
                         softmetal_hook_macos() < 15 ? "fastMathEnabled NO" : "mathMode Safe and precise functions");
    return nil;
  }
  return softmetal_library_of(device, [source UTF8String], error);
}

SoftmetalLibrary *softmetal_library_of(SoftmetalDevice *device, const char *source, NSError **error) {
  const softmetal_library *found = softmetal_registry_find(source, device->family->simd_width, device->instruction_sets);
  if (found == NULL) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                         "source: no library compiled ahead of time for family %s (SIMD width %u, %s) has this text of %zu "
                         "characters, and this machine has no Metal compiler",
                         device->family->name, device->family->simd_width, device->instruction_sets[0], strlen(source));
    return nil;
  }
  SoftmetalLibrary *library = [[SoftmetalLibrary alloc] init];
  if (library == nil) return nil;
  library->device = [device retain];
  library->library = found;
  return library;
}

int softmetal_missing_constant(const softmetal_kernel *kernel, uint32_t given) {
  uint32_t missing = kernel->constant_mask & ~given;
  return missing != 0 ? __builtin_ctz(missing) : -1;
}

@implementation SoftmetalLibrary

- (void)dealloc {
  [device release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return device;
}

- (NSArray *)functionNames {
  uint32_t count = library->kernel_count;
  id *names = calloc(count + 1u, sizeof *names);
  if (names == NULL) return nil;
  for (uint32_t i = 0; i < count; i++) names[i] = [NSString stringWithUTF8String:library->kernels[i].name];
  NSArray *array = [NSArray arrayWithObjects:names count:count];
  free(names);
  return array;
}

- (SoftmetalFunction *)newFunctionNamed:(NSString *)name {
  const char *text = [name UTF8String];
  for (uint32_t i = 0; text != NULL && i < library->kernel_count; i++) {
    if (strcmp(library->kernels[i].name, text) != 0) continue;
    SoftmetalFunction *function = [[SoftmetalFunction alloc] init];
    if (function == nil) return nil;
    function->library = [self retain];
    function->kernel = &library->kernels[i];
    return function;
  }
  return nil;
}

/* Without values for the constants that it declares no pipeline can be made of it. */
- (id<MTLFunction>)newFunctionWithName:(NSString *)functionName {
  return softmetal_hook_fails() ? nil : [self newFunctionNamed:functionName];
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)constantValues
                                 error:(NSError **)error {
  const char *text = name != nil ? [name UTF8String] : "nil";
  if (softmetal_hook_fails()) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, "%s: specialisation failed for a test", text);
    return nil;
  }
  SoftmetalFunction *function = [self newFunctionNamed:name];
  if (function == nil) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound, "%s: the library has no such function", text);
    return nil;
  }
  const softmetal_kernel *kernel = function->kernel;
  function->given = [constantValues copyInto:function->constants];
  int missing = softmetal_missing_constant(kernel, function->given);
  if (missing < 0) return function;
  MTLDataType unsupported = [constantValues unsupportedAtIndex:missing];
  if (unsupported != 0) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                         "%s: function constant %d was given as MTLDataType %lu, expected a scalar or vector of at most 8 bytes",
                         text, missing, unsupported);
  } else {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, "%s: function constant %d has no value", text,
                         missing);
  }
  [function release];
  return nil;
}

@end

@implementation SoftmetalFunction

- (void)dealloc {
  [library release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return library->device;
}

- (NSString *)name {
  return [NSString stringWithUTF8String:kernel->name];
}

@end
