#include "execution/recording.h"

#include <stdlib.h>

enum { CHUNK = 16384, ALIGNMENT = 16 };

static recording_chunk *chunk_create(size_t size) {
  recording_chunk *chunk = aligned_alloc(64, size);
  if (chunk == NULL) return NULL;
  chunk->next = NULL;
  chunk->size = size;
  return chunk;
}

static void enter(recording *self, recording_chunk *chunk) {
  self->chunk = chunk;
  self->at = (char *)(chunk + 1);
  self->end = (char *)chunk + chunk->size;
}

void softmetal_recording_reset(recording *self) {
  enter(self, self->first_chunk);
  self->first = NULL;
  self->last = &self->first;
  self->retained = NULL;
}

recording *softmetal_recording_create(void) {
  recording *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->first_chunk = chunk_create(CHUNK);
  if (self->first_chunk == NULL) {
    free(self);
    return NULL;
  }
  softmetal_recording_reset(self);
  return self;
}

void softmetal_recording_destroy(recording *self) {
  recording_chunk *chunk = self->first_chunk;
  while (chunk != NULL) {
    recording_chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  free(self);
}

/* `size` is far below CHUNK: 4096 bytes of setBytes are the most. */
void *softmetal_recording_take(recording *self, size_t size) {
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if ((size_t)(self->end - self->at) < size) {
    if (self->chunk->next == NULL) self->chunk->next = chunk_create(CHUNK);
    if (self->chunk->next == NULL) return NULL;
    enter(self, self->chunk->next);
  }
  void *taken = self->at;
  self->at += size;
  return taken;
}

command *softmetal_recording_add(recording *self, command_kind kind) {
  command *added = softmetal_recording_take(self, sizeof *added);
  if (added == NULL) return NULL;
  added->next = NULL;
  added->kind = kind;
  *self->last = added;
  self->last = &added->next;
  return added;
}
