/* The calling thread's message, and failures kept until somebody asks. */
#ifndef PAGEDRT_ERRORS_H
#define PAGEDRT_ERRORS_H

#include "pagedrt.h"

/* Sets the thread's message and returns `status`, so that a check is one return statement. */
pagedrt_status error_set(pagedrt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first failure since the last take; later ones are dropped. */
typedef struct failure {
  pagedrt_status status;
  char message[384];
} failure;

void failure_keep(failure *kept, pagedrt_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reports the kept failure as the thread's error and clears it; PAGEDRT_OK when there is none. */
pagedrt_status failure_take(failure *kept);

#endif
