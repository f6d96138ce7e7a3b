/* The commands of one command buffer, in memory that is used again for the next. */
#ifndef SOFTMETAL_RECORDING_H
#define SOFTMETAL_RECORDING_H

#include "execution/family.h"

struct softmetal_event;

typedef enum command_kind { COMMAND_DISPATCH, COMMAND_SIGNAL, COMMAND_WAIT } command_kind;

typedef struct command {
  struct command *next;
  command_kind kind;
  union {
    softmetal_dispatch dispatch;
    struct {
      struct softmetal_event *event;
      uint64_t value;
    } event;
  } of;
} command;

enum { RETAINED_OBJECTS = 30 };

typedef struct retained_block {
  struct retained_block *next;
  uint32_t count;
  void *objects[RETAINED_OBJECTS];
} retained_block;

typedef struct recording_chunk {
  struct recording_chunk *next;
  size_t size;
} recording_chunk;

typedef struct recording {
  struct recording *next; /* in its queue's free list */
  recording_chunk *first_chunk, *chunk;
  char *at, *end;
  command *first, **last;
  retained_block *retained;
} recording;

/* NULL when memory runs out, as the next two. */
recording *softmetal_recording_create(void);
void softmetal_recording_destroy(recording *self);
/* `size` bytes, 16-byte aligned, until the recording is reset. */
void *softmetal_recording_take(recording *self, size_t size);
/* Adds a command; its content is the caller's to fill. */
command *softmetal_recording_add(recording *self, command_kind kind);
/* Forgets the commands and keeps the memory. */
void softmetal_recording_reset(recording *self);

#endif
