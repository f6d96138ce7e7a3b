/* What memory safety needs of a call's numbers, checked in C whoever calls. */
#ifndef PAGEDRT_CHECK_H
#define PAGEDRT_CHECK_H

#include "pagedrt.h"

/* A call's arrays, in the order of the kernels' first buffers. */
enum { ARRAY_QUERIES, ARRAY_KEYS, ARRAY_VALUES, ARRAY_PAGE_TABLE, ARRAY_DEPENDENCY, ARRAY_INPUTS, ARRAY_OUT = ARRAY_INPUTS, ARRAYS };

extern const char *const array_names[ARRAYS];

typedef struct call_arrays {
  const void *pointers[ARRAYS];
  size_t lengths[ARRAYS]; /* bytes */
} call_arrays;

pagedrt_status check_geometry(const pagedrt_geometry *geometry);
/* Whether the path takes this geometry, and heads fit its groups; simdgroups is up to the pipeline. */
pagedrt_status check_layout(const pagedrt_geometry *geometry, const pagedrt_layout *layout);
/* The geometry has been checked. No array's contents are read. */
pagedrt_status check_call(const pagedrt_geometry *geometry, const pagedrt_call *call, call_arrays *arrays);
/* Reads dependency and the page ids it makes used. */
pagedrt_status check_contents(const pagedrt_geometry *geometry, const pagedrt_call *call);

#endif
