#include "execution/thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execution/fork.h"
#include "execution/lock.h"
#include "foundation/allocate.h"
#include "foundation/autorelease.h"

__thread softmetal_thread_state *softmetal_thread_current;

static softmetal_lock threads_lock;
static softmetal_thread_state *threads;
static int64_t ended_live_objects;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_end(void *argument) {
  softmetal_thread_state *state = argument;
  softmetal_autorelease_end(state);
  softmetal_allocate_end(state);
  lock_take(&threads_lock);
  ended_live_objects += state->live_objects;
  if (state->next != NULL) state->next->previous = state->previous;
  if (state->previous != NULL) state->previous->next = state->next;
  else threads = state->next;
  lock_drop(&threads_lock);
  free(state);
  softmetal_thread_current = NULL;
}

static void before_fork(void) {
  lock_take(&threads_lock);
}

static void after_fork(void) {
  lock_drop(&threads_lock);
}

static void prepare(void) {
  if (pthread_key_create(&key, thread_end) != 0) abort();
  softmetal_fork_hold(before_fork, after_fork);
}

softmetal_thread_state *softmetal_thread_try(void) {
  pthread_once(&once, prepare);
  softmetal_thread_state *state = aligned_alloc(64, sizeof *state);
  if (state == NULL) return NULL;
  memset(state, 0, offsetof(softmetal_thread_state, threadgroup_memory));
  if (pthread_setspecific(key, state) != 0) {
    free(state);
    return NULL;
  }
  lock_take(&threads_lock);
  state->next = threads;
  if (threads != NULL) threads->previous = state;
  threads = state;
  lock_drop(&threads_lock);
  softmetal_thread_current = state;
  return state;
}

softmetal_thread_state *softmetal_thread_enter(void) {
  softmetal_thread_state *state = softmetal_thread_try();
  if (state != NULL) return state;
  fputs("softmetal: out of memory for a thread's state\n", stderr);
  abort();
}

int64_t softmetal_thread_live_objects(void) {
  lock_take(&threads_lock);
  int64_t sum = ended_live_objects;
  for (softmetal_thread_state *state = threads; state != NULL; state = state->next) {
    sum += __atomic_load_n(&state->live_objects, __ATOMIC_RELAXED);
  }
  lock_drop(&threads_lock);
  return sum;
}
