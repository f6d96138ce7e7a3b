#include "foundation/allocate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "execution/fork.h"
#include "execution/lock.h"

enum {
  GRANULE = 32,
  LARGE = THREAD_SIZE_CLASSES, /* straight from malloc */
  SLAB_OBJECTS = 64,
  KEPT_BY_THREAD = 64,
};

/* Objects that their threads have no use for, and the slabs all were cut from. */
static softmetal_lock shared_lock;
static free_object *shared[THREAD_SIZE_CLASSES];
static free_object *slabs;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void) {
  lock_take(&shared_lock);
}

static void after_fork(void) {
  lock_drop(&shared_lock);
}

static void prepare(void) {
  softmetal_fork_hold(before_fork, after_fork);
}

static size_t bytes_of(uint32_t size_class) {
  return (size_t)GRANULE * (size_class + 1);
}

static void keep(softmetal_thread_state *state, uint32_t size_class, free_object *object) {
  object->next = state->free[size_class];
  state->free[size_class] = object;
  state->free_count[size_class]++;
}

/* Takes objects that other threads gave back, else cuts a slab. */
static void refill(softmetal_thread_state *state, uint32_t size_class) {
  pthread_once(&once, prepare);
  lock_take(&shared_lock);
  while (shared[size_class] != NULL && state->free_count[size_class] < KEPT_BY_THREAD / 2) {
    free_object *object = shared[size_class];
    shared[size_class] = object->next;
    keep(state, size_class, object);
  }
  lock_drop(&shared_lock);
  if (state->free[size_class] != NULL) return;
  size_t bytes = bytes_of(size_class);
  char *slab = malloc(sizeof(object_header) + SLAB_OBJECTS * bytes);
  if (slab == NULL) return;
  for (int i = 0; i < SLAB_OBJECTS; i++) {
    keep(state, size_class, (free_object *)(slab + sizeof(object_header) + (size_t)i * bytes));
  }
  lock_take(&shared_lock);
  ((free_object *)slab)->next = slabs;
  slabs = (free_object *)slab;
  lock_drop(&shared_lock);
}

static void give_back(softmetal_thread_state *state, uint32_t size_class, uint32_t kept) {
  lock_take(&shared_lock);
  while (state->free_count[size_class] > kept) {
    free_object *object = state->free[size_class];
    state->free[size_class] = object->next;
    state->free_count[size_class]--;
    object->next = shared[size_class];
    shared[size_class] = object;
  }
  lock_drop(&shared_lock);
}

static void count(softmetal_thread_state *state, int64_t by) {
  __atomic_store_n(&state->live_objects, state->live_objects + by, __ATOMIC_RELAXED);
}

static uint32_t class_of(size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  (void)bytes; /* so that the sanitizer sees every object's end and release */
  return LARGE;
#else
  return bytes <= bytes_of(LARGE - 1) ? (uint32_t)((bytes - 1) / GRANULE) : LARGE;
#endif
}

void *softmetal_allocate(size_t size) {
  softmetal_thread_state *state = thread_state();
  size_t bytes = sizeof(object_header) + size;
  uint32_t size_class = class_of(bytes);
  object_header *header;
  if (size_class == LARGE) {
    header = malloc(bytes);
    if (header == NULL) return NULL;
  } else {
    if (state->free[size_class] == NULL) refill(state, size_class);
    header = (object_header *)state->free[size_class];
    if (header == NULL) return NULL;
    state->free[size_class] = state->free[size_class]->next;
    state->free_count[size_class]--;
  }
  memset(header, 0, bytes);
  header->references = 1;
  header->size_class = size_class;
  count(state, 1);
  return header + 1;
}

void softmetal_deallocate(void *object) {
  softmetal_thread_state *state = thread_state();
  object_header *header = header_of(object);
  uint32_t size_class = header->size_class;
  count(state, -1);
  if (size_class == LARGE) {
    free(header);
    return;
  }
  keep(state, size_class, (free_object *)header);
  /* Workers free what others made, and make nothing: those shall find it again. */
  if (state->workers != NULL) give_back(state, size_class, 0);
  else if (state->free_count[size_class] > KEPT_BY_THREAD) give_back(state, size_class, KEPT_BY_THREAD / 2);
}

void softmetal_allocate_end(softmetal_thread_state *state) {
  for (uint32_t size_class = 0; size_class < THREAD_SIZE_CLASSES; size_class++) {
    if (state->free[size_class] != NULL) give_back(state, size_class, 0);
  }
}
