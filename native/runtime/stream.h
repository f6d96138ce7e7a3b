/* A queue and the command buffers it has open and in flight. */
#ifndef PAGEDRT_STREAM_H
#define PAGEDRT_STREAM_H

#import <Metal/Metal.h>
#include <pthread.h>

#include "dispatch.h"
#include "object.h"
#include "submission.h"

enum { STREAM_SUBMISSIONS = 8 }; /* open or uncompleted at a time; a ninth waits for the oldest */

struct pagedrt_stream {
  object object;
  pagedrt_device *device;
  bool internal; /* serves calls without a stream: the device owns it, one caller uses it at a time */
  id<MTLCommandQueue> queue;
  id<MTLSharedEvent> event;
  pagedrt_scratch *scratch; /* of calls that bring none; made on first use */

  pthread_mutex_t lock; /* guards what follows */
  bool closed;
  uint64_t serial; /* of the newest submission */
  uint64_t calls;  /* since the last synchronize */
  submission submissions[STREAM_SUBMISSIONS];
  unsigned oldest, in_flight; /* a ring: the committed ones, then the open one */
  bool open;
  failure failure;

  /* Guarded by the device's lists lock: */
  uint64_t id; /* ascending in order of creation */
  pagedrt_stream *next_of_device, *next_idle;
};

/* Every committed and open call of every stream of the device, to its end. */
void streams_drain(pagedrt_device *device);
/* The first failure of any stream, after which none takes calls. */
pagedrt_status streams_close(pagedrt_device *device);
/* For a device's end: no call is in progress. */
void streams_end(pagedrt_device *device);

pagedrt_status stream_usable(pagedrt_stream *stream);
/* A stream for one call of its own; given back when the call is over. */
pagedrt_status stream_borrow(pagedrt_device *device, pagedrt_stream **stream);
void stream_give_back(pagedrt_stream *stream);
/* The scratch of calls that bring none. */
pagedrt_status stream_scratch(pagedrt_stream *stream, pagedrt_scratch **scratch);

/* Commits what is open, and does not wait. */
void stream_commit(pagedrt_stream *stream);
/* Commits what is open, waits for all of it, and takes the first failure. */
pagedrt_status stream_finish(pagedrt_stream *stream);
/* Before a call reads or writes these ranges: delivers bounced outputs that overlap one. */
void stream_settle(pagedrt_stream *stream, const void *const *pointers, const size_t *lengths, unsigned count);

/* Locks the stream with a command buffer open that has a free slot and waits for `after`, if that is
 * not NULL; fails unlocked. Between begin and end or abandon, calls are encoded and nothing fails. */
pagedrt_status stream_begin(pagedrt_stream *stream, const order_point *after, call_site *site);
/* Counts the encoded call, takes over the temporaries, unlocks. The number of its command buffer. */
uint64_t stream_end(pagedrt_stream *stream, const call_record *record, pagedrt_buffer *temporaries, bool shared);
void stream_abandon(pagedrt_stream *stream);

/* What the scratch's last call left: commits it if it is still open. False if the next call need not
 * wait: there is none, it is complete, or it is on `next` itself. */
bool order_pending(const order_point *last, pagedrt_stream *next);
/* Holds `stream`, lets go of the former. */
void order_move(order_point *last, pagedrt_stream *stream, uint64_t serial);

#endif
