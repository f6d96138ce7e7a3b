#include "metal/metallib.h"

#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "metal/errors.h"
#include "metal/file.h"

static const char magic[] = "MTLB";

SoftmetalLibrary *softmetal_metallib_open(SoftmetalDevice *device, NSURL *url, NSError **error) {
  const char *path = [[url path] UTF8String];
  if (softmetal_hook_fails()) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, "newLibraryWithURL: failed for a test");
    return nil;
  }
  size_t length;
  char *bytes = softmetal_file_read(path, &length);
  if (bytes == NULL) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound, "%s: cannot be read", path != NULL ? path : "nil");
    return nil;
  }
  SoftmetalLibrary *library = nil;
  if (strncmp(bytes, magic, strlen(magic)) != 0) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, "%s: no metallib", path);
  } else {
    library = softmetal_library_of(device, bytes + strlen(magic), error);
  }
  free(bytes);
  return library;
}
