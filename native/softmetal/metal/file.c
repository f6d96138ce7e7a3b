#include "metal/file.h"

#include <stdio.h>
#include <stdlib.h>

char *softmetal_file_read(const char *path, size_t *length) {
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
  *length = bytes != NULL ? (size_t)size : 0;
  return bytes;
}
