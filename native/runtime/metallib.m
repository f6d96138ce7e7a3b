#include "metallib.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "platform.h"

id<MTLLibrary> metallib_load(id<MTLDevice> device, const char *library) {
  const char *folder = pagedrt_platform_metallibs();
  char path[PATH_MAX];
  if (folder == NULL) return nil;
  int length = snprintf(path, sizeof path, "%s/%s.metallib", folder, library);
  if (length >= (int)sizeof path || access(path, R_OK) != 0) return nil;
  NSString *text = [[NSString alloc] initWithUTF8String:path];
  NSError *error = nil;
  id<MTLLibrary> loaded = [device newLibraryWithURL:[NSURL fileURLWithPath:text] error:&error];
  [text release];
  return loaded;
}
