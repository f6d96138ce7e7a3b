/* What the C test programs share: a device, arrays for one geometry, and checks that end the program. */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pagedrt.h"

#define CHECK(status)                                                                       \
  do {                                                                                      \
    pagedrt_status got = (status);                                                          \
    if (got != PAGEDRT_OK) {                                                                \
      fprintf(stderr, "%s:%d: status %d: %s\n", __FILE__, __LINE__, got, pagedrt_last_error()); \
      abort();                                                                              \
    }                                                                                       \
  } while (0)

enum { QUERY_HEADS = 4, KV_HEADS = 2, HEAD_DIM = 64, PAGE_SIZE = 16, PAGES = 8, TOKENS = 100 };

static const pagedrt_geometry geometry = {QUERY_HEADS, KV_HEADS, HEAD_DIM, PAGE_SIZE, PAGEDRT_FLOAT32, 0.125f};

typedef struct arrays {
  pagedrt_buffer *buffers[6];
  pagedrt_call call;
} arrays;

static inline void *array_make(pagedrt_device *device, pagedrt_buffer **buffer, size_t length) {
  CHECK(pagedrt_buffer_create(device, length, buffer));
  return pagedrt_buffer_contents(*buffer);
}

/* Every key is alike, so attention is the mean of the values: value v at token t is t + seed. */
static inline void arrays_make(pagedrt_device *device, arrays *a, float seed) {
  const size_t pages = (size_t)KV_HEADS * PAGES * PAGE_SIZE * HEAD_DIM, row = QUERY_HEADS * HEAD_DIM;
  float *queries = array_make(device, &a->buffers[0], row * sizeof(float));
  float *keys = array_make(device, &a->buffers[1], pages * sizeof(float));
  float *values = array_make(device, &a->buffers[2], pages * sizeof(float));
  uint32_t *table = array_make(device, &a->buffers[3], PAGES * sizeof(uint32_t));
  uint32_t *dependency = array_make(device, &a->buffers[4], sizeof(uint32_t));
  float *out = array_make(device, &a->buffers[5], row * sizeof(float));
  for (size_t i = 0; i < row; i++) queries[i] = 1;
  for (uint32_t i = 0; i < PAGES; i++) table[i] = PAGES - 1 - i;
  for (uint32_t head = 0; head < KV_HEADS; head++) {
    for (uint32_t token = 0; token < PAGES * PAGE_SIZE; token++) {
      size_t at = ((size_t)(head * PAGES + table[token / PAGE_SIZE]) * PAGE_SIZE + token % PAGE_SIZE) * HEAD_DIM;
      for (int i = 0; i < HEAD_DIM; i++) {
        keys[at + i] = 0.5f;
        values[at + i] = token + seed;
      }
    }
  }
  *dependency = TOKENS;
  a->call = (pagedrt_call){queries, keys, values, table, dependency, out, PAGES, PAGES, TOKENS};
}

static inline void arrays_check(const arrays *a, float seed) {
  const float *out = a->call.out, expected = (TOKENS - 1) / 2.0f + seed;
  for (int i = 0; i < QUERY_HEADS * HEAD_DIM; i++) {
    if (fabsf(out[i] - expected) > 1e-3f) {
      fprintf(stderr, "out[%d] = %g, expected %g\n", i, out[i], expected);
      abort();
    }
  }
}

static inline void arrays_destroy(arrays *a) {
  for (int i = 0; i < 6; i++) pagedrt_buffer_destroy(a->buffers[i]);
}

#endif
