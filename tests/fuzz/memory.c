#include <stdlib.h>
#include <sys/mman.h>

#include "session.h"

static void *keep(session *s, void *base, size_t mapped) {
  s->blocks[s->block_count++] = (block){base, mapped};
  return base;
}

void *memory_exact(session *s, size_t length, unsigned misaligned) {
  if (s->block_count == BLOCKS_OF_MEMORY || length > 1 << 20) return memory_guarded(s, length);
  char *base = calloc(1, length + misaligned); /* a value left of an earlier output would look unwritten */
  if (base == NULL) return NULL;
  return (char *)keep(s, base, 0) + misaligned;
}

/* Ends where a page without access begins; its start is aligned to 16 as long as its length is. */
void *memory_guarded(session *s, size_t length) {
  size_t page = s->memory_page;
  if (s->block_count == BLOCKS_OF_MEMORY || length > (size_t)64 << 30) return NULL;
  size_t used = (length + page - 1) / page * page, mapped = used + page;
  char *base = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return NULL;
  if (used > 0 && mprotect(base, used, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, mapped);
    return NULL;
  }
  return (char *)keep(s, base, mapped) + (used - length);
}

static pagedrt_buffer *keep_buffer(session *s, pagedrt_status status, pagedrt_buffer *buffer) {
  EXPECT((expect_told(status) == PAGEDRT_OK) == (buffer != NULL), "status %d", status);
  if (buffer != NULL) s->buffers[s->buffer_count++] = buffer;
  return buffer;
}

pagedrt_buffer *buffer_owned(session *s, size_t length) {
  pagedrt_buffer *buffer = NULL;
  if (s->buffer_count == BUFFERS) return NULL;
  pagedrt_status status = pagedrt_buffer_create(s->device, length, &buffer);
  return keep_buffer(s, status, buffer);
}

pagedrt_buffer *buffer_wrapped(session *s, void *pointer, size_t length, bool writable) {
  pagedrt_buffer *buffer = NULL;
  if (s->buffer_count == BUFFERS) return NULL;
  pagedrt_status status = pagedrt_buffer_wrap(s->device, pointer, length, writable, &buffer);
  return keep_buffer(s, status, buffer);
}

/* Calls in flight first, then the buffers over memory, then the memory. */
void session_end(session *s) {
  if (s->stream != NULL) {
    expect_told(pagedrt_stream_synchronize(s->stream));
    pagedrt_stream_destroy(s->stream);
  }
  if (s->scratch_locked) expect_told(pagedrt_scratch_unlock(s->scratch));
  pagedrt_scratch_destroy(s->scratch);
  for (unsigned i = 0; i < s->buffer_count; i++) pagedrt_buffer_destroy(s->buffers[i]);
  for (unsigned i = 0; i < s->block_count; i++) {
    if (s->blocks[i].mapped > 0) munmap(s->blocks[i].base, s->blocks[i].mapped);
    else free(s->blocks[i].base);
  }
}
