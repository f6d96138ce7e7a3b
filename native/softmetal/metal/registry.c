#include "metal/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execution/lock.h"

typedef struct entry {
  struct entry *next;
  const softmetal_library *library;
} entry;

static softmetal_lock lock;
static entry *entries;

void softmetal_register_library(const softmetal_library *library) {
  entry *added = malloc(sizeof *added);
  if (added == NULL) {
    fputs("softmetal: out of memory while libraries register\n", stderr);
    abort();
  }
  added->library = library;
  lock_take(&lock);
  added->next = entries;
  entries = added;
  lock_drop(&lock);
}

static const softmetal_library *find(const char *source, uint32_t simd_width, const char *instruction_set) {
  for (const entry *at = entries; at != NULL; at = at->next) {
    const softmetal_library *library = at->library;
    if (library->simd_width == simd_width && strcmp(library->instruction_set, instruction_set) == 0 &&
        strcmp(library->source, source) == 0) {
      return library;
    }
  }
  return NULL;
}

const softmetal_library *softmetal_registry_find(const char *source, uint32_t simd_width, const char *const *instruction_sets) {
  const softmetal_library *found = NULL;
  lock_take(&lock);
  for (; *instruction_sets != NULL && found == NULL; instruction_sets++) found = find(source, simd_width, *instruction_sets);
  lock_drop(&lock);
  return found;
}
