/* Memory of objects, from free lists per size: a steady state allocates nothing. */
#ifndef SOFTMETAL_ALLOCATE_H
#define SOFTMETAL_ALLOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "execution/thread.h"

/* Stands before every object but constant strings. */
typedef struct object_header {
  uint32_t references;
  uint32_t size_class;
  uint64_t unused; /* keeps objects 16-byte aligned */
} object_header;

static inline object_header *header_of(const void *object) {
  return (object_header *)object - 1;
}

/* Zero-filled, reference count 1; NULL when memory runs out. */
void *softmetal_allocate(size_t size);
void softmetal_deallocate(void *object);
/* Hands a thread's free objects back. */
void softmetal_allocate_end(softmetal_thread_state *state);

#endif
