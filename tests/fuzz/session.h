/* What one input works with: a device that all inputs share, and what the input made and must let go. */
#ifndef FUZZ_SESSION_H
#define FUZZ_SESSION_H

#include "input.h"
#include "pagedrt.h"

enum { BLOCKS_OF_MEMORY = 256, BUFFERS = 256, SENTINEL = 0xA7 };

typedef struct block {
  void *base;
  size_t mapped; /* 0: from malloc */
} block;

typedef struct session {
  input in;
  pagedrt_device *device;
  uint64_t max_buffer_length;
  size_t memory_page;
  pagedrt_stream *stream;
  pagedrt_scratch *scratch;
  bool scratch_locked;
  block blocks[BLOCKS_OF_MEMORY];
  unsigned block_count;
  pagedrt_buffer *buffers[BUFFERS];
  unsigned buffer_count;
} session;

/* Ends the program unless `truth` holds. */
#define EXPECT(truth, ...) ((truth) ? (void)0 : expectation_failed(__FILE__, __LINE__, #truth, __VA_ARGS__))
void expectation_failed(const char *file, int line, const char *truth, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));

/* A status is a known one, and a failure has a message. Gives it back. */
pagedrt_status expect_told(pagedrt_status status);

/* Memory of exactly `length` bytes: one past the end is a redzone or a page without access. The room is 64
 * GiB at most, untouched pages cost nothing. NULL where there is none. */
void *memory_exact(session *s, size_t length, unsigned misaligned);
void *memory_guarded(session *s, size_t length);
/* A buffer of the session's, or NULL. */
pagedrt_buffer *buffer_owned(session *s, size_t length);
pagedrt_buffer *buffer_wrapped(session *s, void *pointer, size_t length, bool writable);
void session_end(session *s);

/* The steps that an input can take. */
void step_call(session *s);
void step_plan(session *s);
void step_scratch(session *s);
void step_stream(session *s);
void step_buffer(session *s);
void step_device(session *s);
void step_nothing(session *s);

#endif
