#include "errors.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static __thread char message[512];
static __thread const char *long_message; /* where message does not hold it all, as a shader compiler's log */

/* Holds the thread's long message, and frees it with the thread. */
static pthread_key_t owner;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool owned;

static void prepare(void) {
  owned = pthread_key_create(&owner, free) == 0;
}

/* Where memory runs out the message stays cut. */
static void keep_long(const char *format, va_list arguments, size_t bytes) {
  pthread_once(&once, prepare);
  char *text = owned ? malloc(bytes) : NULL;
  if (text == NULL) return;
  vsnprintf(text, bytes, format, arguments);
  void *former = pthread_getspecific(owner);
  if (pthread_setspecific(owner, text) != 0) {
    free(text);
    return;
  }
  free(former);
  long_message = text;
}

pagedrt_status error_set(pagedrt_status status, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  long_message = NULL;
  int length = vsnprintf(message, sizeof message, format, arguments);
  if (length >= (int)sizeof message) keep_long(format, again, (size_t)length + 1);
  va_end(again);
  va_end(arguments);
  return status;
}

void failure_keep(failure *kept, pagedrt_status status, const char *format, ...) {
  if (kept->status != PAGEDRT_OK) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(kept->message, sizeof kept->message, format, arguments);
  va_end(arguments);
  kept->status = status;
}

pagedrt_status failure_take(failure *kept) {
  pagedrt_status status = kept->status;
  kept->status = PAGEDRT_OK;
  return status == PAGEDRT_OK ? status : error_set(status, "%s", kept->message);
}

const char *pagedrt_last_error(void) {
  return long_message != NULL ? long_message : message;
}

const char *pagedrt_version(void) {
  return PAGEDRT_VERSION;
}
