#include "metal/pipeline.h"

#include <string.h>
#include <unistd.h>

#include "hooks.h"
#include "metal/binary_archive.h"
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

/* Where a Mac's GPU compiler would work. */
static void compile(void) {
  uint32_t milliseconds = softmetal_hook_pipeline_milliseconds();
  if (milliseconds > 0) usleep(milliseconds * 1000);
  softmetal_hook_count_compiled_pipeline();
}

static SoftmetalPipeline *pipeline_of(SoftmetalDevice *device, SoftmetalFunction *function) {
  SoftmetalPipeline *pipeline = [[SoftmetalPipeline alloc] init];
  if (pipeline == nil) return nil;
  uint32_t own = function->kernel->max_threads;
  pipeline->device = [device retain];
  pipeline->kernel = function->kernel;
  pipeline->maxThreads = own != 0 && own < device->maxThreads ? own : device->maxThreads;
  memcpy(pipeline->constants, function->constants, sizeof pipeline->constants);
  return pipeline;
}

SoftmetalPipeline *softmetal_pipeline_new(SoftmetalDevice *device, id<MTLFunction> function, NSError **error) {
  if (refuse(device, function, error)) return nil;
  compile();
  return pipeline_of(device, (SoftmetalFunction *)function);
}

SoftmetalPipeline *softmetal_pipeline_described(SoftmetalDevice *device, MTLComputePipelineDescriptor *descriptor,
                                                MTLPipelineOption options, NSError **error) {
  if (refuse(device, [descriptor computeFunction], error)) return nil;
  SoftmetalFunction *function = (SoftmetalFunction *)[descriptor computeFunction];
  if (!softmetal_binary_archives_hold([descriptor binaryArchives], function)) {
    if (options & MTLPipelineOptionFailOnBinaryArchiveMiss) {
      softmetal_error_give(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorUnexpectedElement, "%s: in none of the archives",
                           function->kernel->name);
      return nil;
    }
    compile();
  }
  return pipeline_of(device, function);
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
