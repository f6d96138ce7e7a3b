#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform.h"

static int checks, failures;

#if defined(__SANITIZE_ADDRESS__)
/* The Objective-C runtime keeps what it knows of classes until the end. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libobjc.so\n";
}
#endif

void test_check(bool good, const char *what, const char *file, int line) {
  checks++;
  if (!good) failures++;
  printf("%s %s (%s:%d)\n", good ? "ok " : "BAD", what, strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file, line);
  fflush(stdout);
}

int test_result(void) {
  printf("%d checks, %d failed\n", checks, failures);
  return failures > 0 || checks == 0;
}

static void must(bool good, const char *what) {
  if (good) return;
  printf("BAD %s cannot be had\n", what);
  exit(2);
}

id<MTLDevice> test_device(uint32_t threads) {
  uint32_t used = 0;
  const char *instruction_set = NULL, *reason = "no reason given";
  id<MTLDevice> device = pagedrt_platform_device("cpu", threads, &used, &instruction_set, &reason);
  must(device != nil, reason);
  must(threads == 0 || used == threads, "the number of threads asked for");
  return device;
}

id<MTLComputePipelineState> test_pipeline(id<MTLDevice> device, const char *kernel) {
  NSString *source = [[NSString alloc] initWithUTF8String:TEST_SOURCE], *name = [[NSString alloc] initWithUTF8String:kernel];
  id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:NULL];
  id<MTLFunction> function = [library newFunctionWithName:name];
  id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:NULL];
  must(pipeline != nil, kernel);
  [function release];
  [library release];
  [name release];
  [source release];
  return pipeline;
}

id<MTLBuffer> test_buffer(id<MTLDevice> device, NSUInteger length) {
  id<MTLBuffer> buffer = [device newBufferWithLength:length options:MTLResourceStorageModeShared];
  must(buffer != nil, "a buffer");
  memset([buffer contents], 0, length); /* Metal does not */
  return buffer;
}

void test_encode(id<MTLCommandBuffer> commands, id<MTLComputePipelineState> pipeline, id<MTLBuffer> buffer, const void *bytes,
                 NSUInteger length, NSUInteger groups) {
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  if (bytes != NULL) [encoder setBytes:bytes length:length atIndex:1];
  [encoder dispatchThreadgroups:test_size(groups) threadsPerThreadgroup:test_size(1)];
  [encoder endEncoding];
}

void test_sleep_milliseconds(unsigned milliseconds) {
  struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  nanosleep(&time, NULL);
}

bool test_completes(id<MTLCommandBuffer> commands) {
  for (int i = 0; i < 20000 && [commands status] < MTLCommandBufferStatusCompleted; i++) test_sleep_milliseconds(1);
  return [commands status] >= MTLCommandBufferStatusCompleted;
}

bool test_live_objects_fall_to(int64_t count) {
  for (int i = 0; i < 20000 && softmetal_testing_live_objects() > count; i++) test_sleep_milliseconds(1);
  return softmetal_testing_live_objects() == count;
}

bool test_says(NSError *error, const char *texts) {
  const char *description = [[error localizedDescription] UTF8String];
  char copy[256];
  snprintf(copy, sizeof copy, "%s", texts);
  bool all = description != NULL;
  for (char *text = strtok(copy, "|"); all && text != NULL; text = strtok(NULL, "|")) all = strstr(description, text) != NULL;
  if (!all) printf("    error is \"%s\", expected in it \"%s\"\n", description != NULL ? description : "nil", texts);
  return all;
}

bool test_failed_with(id<MTLCommandBuffer> commands, NSInteger code, const char *texts) {
  NSError *error = [commands error];
  if ([commands status] != MTLCommandBufferStatusError || error == nil) return false;
  if ([error code] != code || ![[error domain] isEqualToString:MTLCommandBufferErrorDomain]) return false;
  return test_says(error, texts);
}
