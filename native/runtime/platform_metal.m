#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
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

static char metallibs[PATH_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* They are installed beside this library. */
static void find_metallibs(void) {
  Dl_info here;
  if (dladdr((const void *)find_metallibs, &here) == 0) return;
  const char *slash = strrchr(here.dli_fname, '/');
  size_t length = slash != NULL ? (size_t)(slash - here.dli_fname) : sizeof metallibs;
  if (length < sizeof metallibs) memcpy(metallibs, here.dli_fname, length);
}

const char *pagedrt_platform_metallibs(void) {
  pthread_once(&once, find_metallibs);
  return metallibs[0] != 0 ? metallibs : NULL;
}
