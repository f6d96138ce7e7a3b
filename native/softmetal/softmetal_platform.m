/* platform.h where there is no Apple Metal. */
#include "platform.h"

#include "hooks.h"
#include "metal/device.h"

const char *const pagedrt_platform_families[] = {"cpu", "simulator", NULL};
const uint32_t pagedrt_platform_most_threads = MAX_WORKERS;

id<MTLDevice> pagedrt_platform_device(const char *family, uint32_t threads, uint32_t *threads_used,
                                      const char **instruction_set, const char **reason) {
  SoftmetalDevice *device = softmetal_device_open(family, threads, reason);
  if (device == nil) return nil;
  *threads_used = device->team->threads;
  *instruction_set = device->instruction_sets[0];
  return device;
}

const char *pagedrt_platform_metallibs(void) {
  return softmetal_hook_metallibs();
}
