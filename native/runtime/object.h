/* Reference counts of handles. A handle holds what it depends on, so the order of destruction is free. */
#ifndef PAGEDRT_OBJECT_H
#define PAGEDRT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

/* The first member of every counted struct. GCC's Objective-C has no _Atomic: hence the builtins. */
typedef struct object {
  uint32_t references;
  void (*dispose)(void *self);
} object;

static inline void object_init(object *self, void (*dispose)(void *)) {
  self->references = 1;
  self->dispose = dispose;
}

static inline void object_retain(void *self) {
  __atomic_fetch_add(&((object *)self)->references, 1, __ATOMIC_RELAXED);
}

static inline void object_release(void *self) {
  object *counted = self;
  if (counted != 0 && __atomic_fetch_sub(&counted->references, 1, __ATOMIC_ACQ_REL) == 1) counted->dispose(self);
}

/* For lists that hold no reference: false once the last reference is gone. */
static inline bool object_retain_if_alive(void *self) {
  uint32_t *references = &((object *)self)->references;
  uint32_t seen = __atomic_load_n(references, __ATOMIC_RELAXED);
  while (seen != 0) {
    if (__atomic_compare_exchange_n(references, &seen, seen + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

static inline bool flag_get(const bool *flag) {
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static inline void flag_set(bool *flag) {
  __atomic_store_n(flag, true, __ATOMIC_RELEASE);
}

#endif
