/* Where the device finds a call's arrays. */
#ifndef PAGEDRT_ARRAYS_H
#define PAGEDRT_ARRAYS_H

#include "buffer.h"
#include "check.h"
#include "submission.h"

enum { LANE_LOAD_BYTES = 16 }; /* what a lane of many reads at once */

typedef struct resolved_arrays {
  pagedrt_buffer *buffers[ARRAYS];  /* held */
  const void *pointers[ARRAYS];     /* into them */
  pagedrt_buffer *temporaries;      /* made for this call; held */
} resolved_arrays;

/* Finds each array in a live buffer, else wraps it for the call, else copies it and counts the copy;
 * an output that cannot be written in place goes through a counted bounce buffer. */
pagedrt_status arrays_resolve(pagedrt_device *device, const call_arrays *arrays, resolved_arrays *resolved);
/* Lets go of buffers, and of temporaries where no stream took them over (set NULL then). */
void arrays_release(resolved_arrays *resolved);
/* Whether kernels can read the array where it lies: lanes that share rows load LANE_LOAD_BYTES at once. */
bool array_aligned(const pagedrt_device *device, int array, const void *pointer);
/* Whether the output would be bounced. */
bool arrays_bounce_out(pagedrt_device *device, const call_arrays *arrays);

static inline binding arrays_binding(const resolved_arrays *resolved, int array) {
  return buffer_binding(resolved->buffers[array], resolved->pointers[array]);
}

/* buffers and pointers by array number. */
static inline call_record call_record_make(const pagedrt_call *call, pagedrt_buffer *const *buffers, const void *const *pointers) {
  return (call_record){
    buffers[ARRAY_PAGE_TABLE], buffers[ARRAY_DEPENDENCY],
    pointers[ARRAY_PAGE_TABLE], pointers[ARRAY_DEPENDENCY],
    call->page_table_length, call->page_capacity, call->context_tokens,
  };
}

#endif
