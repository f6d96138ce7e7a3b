#include <string.h>

#include "platform.h"

const char *const pagedrt_platform_families[] = {"metal", NULL};

id<MTLDevice> pagedrt_platform_device(const char *family, uint32_t threads, uint32_t *threads_used,
                                      const char **instruction_set, const char **reason) {
  if (strcmp(family, "metal") != 0) {
    *reason = "not in a build for Metal";
    return nil;
  }
  if (threads != 0) {
    *reason = "threads: a Metal device has no worker threads to set";
    return nil;
  }
  *threads_used = 0;
  *instruction_set = "";
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  if (device == nil) *reason = "Metal has no device here";
  return device;
}
