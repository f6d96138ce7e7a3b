#ifndef SOFTMETAL_TEST_SUPPORT_H
#define SOFTMETAL_TEST_SUPPORT_H

#import <Metal/Metal.h>

#include "kernels.h"
#include "testing.h"

/* Prints a line a check; the program's result is test_result(). */
void test_check(bool good, const char *what, const char *file, int line);
int test_result(void);
#define CHECK(what, condition) test_check((condition), (what), __FILE__, __LINE__)

/* All +1; what cannot be had ends the program. */
id<MTLDevice> test_device(uint32_t threads);
id<MTLComputePipelineState> test_pipeline(id<MTLDevice> device, const char *kernel);
id<MTLBuffer> test_buffer(id<MTLDevice> device, NSUInteger length);

static inline MTLSize test_size(NSUInteger width) {
  return MTLSizeMake(width, 1, 1);
}

/* Encodes one dispatch of `groups` threadgroups: buffer at 0, `bytes` at 1 unless NULL. */
void test_encode(id<MTLCommandBuffer> commands, id<MTLComputePipelineState> pipeline, id<MTLBuffer> buffer, const void *bytes,
                 NSUInteger length, NSUInteger groups);
/* Sleeps until it has completed; false after 20 seconds. Does not wait on it: that would help. */
bool test_completes(id<MTLCommandBuffer> commands);
/* Whether it failed, with all texts in its error's description, "|" between them. */
bool test_failed_with(id<MTLCommandBuffer> commands, NSInteger code, const char *texts);
bool test_says(NSError *error, const char *texts);
void test_sleep_milliseconds(unsigned milliseconds);
/* Whether no more than `count` objects come to live: a worker's last release may follow completion. */
bool test_live_objects_fall_to(int64_t count);

#endif
