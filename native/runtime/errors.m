#include "errors.h"

#include <stdarg.h>
#include <stdio.h>

static __thread char message[512];

pagedrt_status error_set(pagedrt_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
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
  return message;
}

const char *pagedrt_version(void) {
  return PAGEDRT_VERSION;
}
