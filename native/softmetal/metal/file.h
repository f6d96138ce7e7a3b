#ifndef SOFTMETAL_FILE_H
#define SOFTMETAL_FILE_H

#include <stddef.h>

/* A file's bytes and a 0 after them, to be freed; NULL where it cannot be read. */
char *softmetal_file_read(const char *path, size_t *length);

#endif
