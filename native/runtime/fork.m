#include "fork.h"

#include <pthread.h>

#include "errors.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int watch_failed;
/* Written by a child's only thread before any other can read it. */
static bool forked;

static void in_child(void) {
  forked = true;
}

static void watch(void) {
  watch_failed = pthread_atfork(NULL, NULL, in_child);
}

pagedrt_status fork_watch(void) {
  pthread_once(&once, watch);
  if (watch_failed != 0) return error_set(PAGEDRT_OUT_OF_MEMORY, "pthread_atfork failed");
  return PAGEDRT_OK;
}

bool fork_happened(void) {
  return forked;
}

pagedrt_status fork_check(void) {
  if (!forked) return PAGEDRT_OK;
  return error_set(PAGEDRT_DEVICE_ERROR,
                   "this process was forked after its parent opened a device; start it by spawn instead of fork");
}
