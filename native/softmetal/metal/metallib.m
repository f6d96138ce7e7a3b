#include "metal/metallib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "metal/errors.h"

static const char magic[] = "MTLB";

/* The file's bytes and a 0 after them, to be freed; NULL where it cannot be read. */
static char *read_all(const char *path) {
  FILE *file = path != NULL ? fopen(path, "rb") : NULL;
  if (file == NULL) return NULL;
  char *bytes = NULL;
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = calloc(1, (size_t)size + 1);
  if (bytes != NULL && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

SoftmetalLibrary *softmetal_metallib_open(SoftmetalDevice *device, NSURL *url, NSError **error) {
  const char *path = [[url path] UTF8String];
  if (softmetal_hook_fails()) {
    softmetal_error_give(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, "newLibraryWithURL: failed for a test");
    return nil;
  }
  char *bytes = read_all(path);
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
