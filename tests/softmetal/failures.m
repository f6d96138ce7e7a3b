#include "support.h"

#include <string.h>

/* One of everything that can fail; true when all of it worked. */
static bool attempt(id<MTLDevice> device, NSInteger *code, bool *errors_given) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  NSError *library_error = nil, *function_error = nil, *pipeline_error = nil;
  char bytes[4] = {0};
  uint32_t value = 1;
  id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:TEST_SOURCE] options:nil error:&library_error];
  MTLFunctionConstantValues *values = [[MTLFunctionConstantValues alloc] init];
  id<MTLFunction> function = [library newFunctionWithName:@"append" constantValues:values error:&function_error];
  id<MTLFunction> plain = [library newFunctionWithName:@"append"];
  id<MTLComputePipelineState> pipeline = nil;
  if (function != nil) pipeline = [device newComputePipelineStateWithFunction:function error:&pipeline_error];
  id<MTLBuffer> buffer = [device newBufferWithLength:64 options:0], copied = [device newBufferWithBytes:bytes length:4 options:0];
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  bool ready = pipeline != nil && buffer != nil;
  if (buffer != nil) memset([buffer contents], 0, 64);
  if (ready) test_encode(commands, pipeline, buffer, &value, sizeof value, 1);
  [commands commit];
  [commands waitUntilCompleted];
  bool ran = ready && [commands status] == MTLCommandBufferStatusCompleted && ((uint32_t *)[buffer contents])[1] == 1;
  *code = [[commands error] code];
  *errors_given = (library != nil) == (library_error == nil) && (library == nil || (function != nil) == (function_error == nil)) &&
                  (function == nil || (pipeline != nil) == (pipeline_error == nil));
  bool all = ran && plain != nil && copied != nil && event != nil;
  [queue release];
  [event release];
  [copied release];
  [buffer release];
  [pipeline release];
  [plain release];
  [function release];
  [values release];
  [library release];
  [pool release];
  return all;
}

int main(void) {
  id<MTLDevice> device = test_device(2);
  NSInteger code;
  bool given;
  softmetal_testing_fail_call(0);
  CHECK("all works when nothing is to fail", attempt(device, &code, &given));
  uint64_t calls = softmetal_testing_calls_made();
  CHECK("every fallible call is counted", calls == 11);
  int codes = 0;
  softmetal_testing_set_failure_code(MTLCommandBufferErrorOutOfMemory);
  for (uint64_t n = 1; n <= calls; n++) {
    softmetal_testing_fail_call(n);
    CHECK("a failing call is seen, and nothing ends the process", !attempt(device, &code, &given));
    CHECK("errors are given exactly when something failed", given);
    if (code == MTLCommandBufferErrorOutOfMemory) codes++;
  }
  CHECK("a commit fails with the code set", codes == 1);
  softmetal_testing_fail_call(0);
  CHECK("all works again", attempt(device, &code, &given));
  [device release];
  CHECK("failures leave nothing behind", test_live_objects_fall_to(0));
  return test_result();
}
