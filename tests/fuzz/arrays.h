/* The arguments of one call: any geometry, any numbers, and arrays of exactly the bytes that they ask for. */
#ifndef FUZZ_ARRAYS_H
#define FUZZ_ARRAYS_H

#include "session.h"

typedef struct attempt {
  pagedrt_geometry geometry;
  pagedrt_layout layout;
  pagedrt_call call;
  unsigned __int128 lengths[6]; /* in the order of pagedrt_call's pointers */
  bool out_is_own;              /* nothing else lies in out */
} attempt;

pagedrt_geometry choose_geometry(session *s);
pagedrt_layout choose_layout(session *s);
/* Numbers, arrays and contents for a geometry. False where a legal call would take too long or too much. */
bool choose_call(session *s, attempt *a, bool device_memory);
/* After a call that waited: an accepted one had legal contents and wrote out, a refused one left it alone. */
void check_outcome(const attempt *a, pagedrt_status status);

#endif
