#include "execution/fork.h"

#include <pthread.h>
#include <stdlib.h>

bool softmetal_forked;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void) {
  softmetal_forked = true;
}

static void watch(void) {
  if (pthread_atfork(NULL, NULL, in_child) != 0) abort();
}

void softmetal_fork_watch(void) {
  pthread_once(&once, watch);
}

void softmetal_fork_hold(void (*before)(void), void (*after)(void)) {
  if (pthread_atfork(before, after, after) != 0) abort();
}
