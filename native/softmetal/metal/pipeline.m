#include "metal/pipeline.h"

#include <string.h>
#include <unistd.h>

#include "hooks.h"
#include "metal/errors.h"
#include "metal/function.h"

/* Whether no pipeline can be made, and into *error why. */
static BOOL refuse(SoftmetalDevice *device, id<MTLFunction> given, NSError **error) {
  if (![given isKindOfClass:[SoftmetalFunction class]]) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, "computeFunction: nil or of another Metal");
    return YES;
  }
  SoftmetalFunction *function = (SoftmetalFunction *)given;
  const char *name = function->kernel->name;
  if (softmetal_hook_fails()) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, "%s: the pipeline failed for a test", name);
    return YES;
  }
  if (function->library->device != device) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, "%s: the function is another device's", name);
    return YES;
  }
  int missing = softmetal_missing_constant(function->kernel, function->given);
  if (missing >= 0) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, "%s: function constant %d has no value", name,
                         missing);
    return YES;
  }
  return NO;
}

SoftmetalPipeline *softmetal_pipeline_new(SoftmetalDevice *device, id<MTLFunction> given, NSError **error) {
  if (refuse(device, given, error)) return nil;
  uint32_t milliseconds = softmetal_hook_pipeline_milliseconds();
  if (milliseconds > 0) usleep(milliseconds * 1000);
  SoftmetalFunction *function = (SoftmetalFunction *)given;
  SoftmetalPipeline *pipeline = [[SoftmetalPipeline alloc] init];
  if (pipeline == nil) return nil;
  uint32_t own = function->kernel->max_threads;
  pipeline->device = [device retain];
  pipeline->kernel = function->kernel;
  pipeline->maxThreads = own != 0 && own < device->maxThreads ? own : device->maxThreads;
  memcpy(pipeline->constants, function->constants, sizeof pipeline->constants);
  return pipeline;
}

@implementation SoftmetalPipeline

- (void)dealloc {
  [device release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return device;
}

- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return maxThreads;
}

- (NSUInteger)threadExecutionWidth {
  return device->family->simd_width;
}

- (NSUInteger)staticThreadgroupMemoryLength {
  return 0;
}

@end
