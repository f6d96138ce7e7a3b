#include <string.h>

#include "platform.h"

const char *const pagedrt_platform_families[] = {"metal", NULL};
const uint32_t pagedrt_platform_most_threads = 0;

id<MTLDevice> pagedrt_platform_device(const char *family, uint32_t threads, uint32_t *threads_used,
                                      const char **instruction_set, const char **reason) {
  if (strcmp(family, "metal") != 0) {
    *reason = "not in a build for Metal";
    return nil;
  }
  (void)threads; /* 0, as there are none to set */
  *threads_used = 0;
  *instruction_set = "";
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  if (device == nil) *reason = "Metal has no device here";
  return device;
}
