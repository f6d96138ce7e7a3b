/* One command buffer of a stream: opened, filled with calls, committed, and reaped when complete. */
#ifndef PAGEDRT_SUBMISSION_H
#define PAGEDRT_SUBMISSION_H

#import <Metal/Metal.h>

#include "arguments.h"
#include "buffer.h"
#include "errors.h"
#include "pagedrt.h"

enum { SUBMISSION_CALLS = 64 }; /* calls to a command buffer: its status slots */

/* A command buffer of a stream, by the number that the stream's event reaches when it is complete. */
typedef struct order_point {
  pagedrt_stream *stream; /* held; NULL for none */
  uint64_t serial;
} order_point;

/* What a message about a call's status needs: held until the call is complete. */
typedef struct call_record {
  pagedrt_buffer *page_table_buffer, *dependency_buffer;
  const uint32_t *page_table, *dependency;
  uint32_t page_table_length, page_capacity, context_tokens;
} call_record;

typedef struct submission {
  id<MTLCommandBuffer> metal;
  id<MTLComputeCommandEncoder> encoder; /* open until commit */
  id<MTLBuffer> statuses;               /* the CPU writes it before commit and reads it after completion */
  uint64_t serial;
  uint64_t first_call; /* number of its first call since the last synchronize */
  order_point after;   /* what its command buffer waits for */
  bool shared;         /* some stream may wait for it: it signals the stream's event */
  uint32_t calls;
  call_record records[SUBMISSION_CALLS];
  pagedrt_buffer *temporaries, *last_temporary; /* made for its calls, released with it */
  bool bounces; /* a temporary's contents go to memory that the device cannot write */
} submission;

/* The slot's status word pair, set to "nothing wrong". */
void submission_clear_slot(submission *batch, uint32_t slot);
/* Takes over the temporaries' references. */
void submission_add_temporaries(submission *batch, pagedrt_buffer *temporaries, uint32_t slot);
/* Whether a bounced output of it overlaps [pointer, pointer + length). */
bool submission_bounces_into(const submission *batch, const void *pointer, size_t length);
/* After completion: keeps the first failure, delivers bounced outputs, lets go of everything. Does
 * not touch `after`. True if the command buffer failed. */
bool submission_reap(submission *batch, pagedrt_device *device, failure *kept);

#endif
