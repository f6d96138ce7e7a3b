/* What softmetal keeps for each thread that uses it. */
#ifndef SOFTMETAL_THREAD_H
#define SOFTMETAL_THREAD_H

#include <stddef.h>
#include <stdint.h>

enum { THREAD_SIZE_CLASSES = 32, THREADGROUP_MEMORY = 32768 };

struct workers;
struct autorelease_page;

typedef struct free_object {
  struct free_object *next;
} free_object;

typedef struct softmetal_thread_state {
  struct softmetal_thread_state *next, *previous; /* all threads' */
  struct autorelease_page *page;
  size_t autoreleased;
  free_object *free[THREAD_SIZE_CLASSES];
  uint32_t free_count[THREAD_SIZE_CLASSES];
  int64_t live_objects; /* made here less freed here */
  struct workers *workers; /* whose worker this thread is, or NULL */
  uint32_t worker;         /* which of them */
  /* Here from the start: whether this thread or a worker runs a call is chance, an allocation must not be. */
  char threadgroup_memory[THREADGROUP_MEMORY] __attribute__((aligned(64)));
} softmetal_thread_state;

/* One word of static TLS: a shared library loaded at run time may use that much, and the general model
 * costs a call per access. */
extern __thread softmetal_thread_state *softmetal_thread_current __attribute__((tls_model("initial-exec")));

/* For a thread that has none yet: NULL where there is no memory; enter ends the process then. */
softmetal_thread_state *softmetal_thread_try(void);
softmetal_thread_state *softmetal_thread_enter(void);

static inline softmetal_thread_state *thread_state(void) {
  softmetal_thread_state *state = softmetal_thread_current;
  return state != NULL ? state : softmetal_thread_enter();
}

/* Objects alive, over all threads. */
int64_t softmetal_thread_live_objects(void);

#endif
