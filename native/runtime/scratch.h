/* Partials, sums and maximums of the two-pass path, and the dispatches prepared for them. */
#ifndef PAGEDRT_SCRATCH_H
#define PAGEDRT_SCRATCH_H

#include <pthread.h>

#include "buffer.h"
#include "dispatch.h"
#include "object.h"
#include "pagedrt.h"
#include "submission.h"

struct pagedrt_scratch {
  object object;
  pagedrt_device *device;
  bool internal; /* a stream's own: does not hold the device, and is on one stream only */
  pagedrt_scratch *next_of_device;

  pthread_mutex_t lock; /* guards what follows */
  const void *holder;   /* the thread that holds the lock, by an address of its own */
  bool prepared;
  pagedrt_scratch_spec spec;
  pagedrt_slice state[3]; /* partials, sums, maximums; buffers held */
  pagedrt_dispatch partial, reduce;
  order_point last; /* the last call's command buffer */
  pagedrt_buffer *barrier; /* of the slices handed out last; held, since others may forget `output` meanwhile */

  pagedrt_slice output; /* the last call's, held; guarded by the device's lists lock */
};

/* Byte offsets of sums and maximums behind the partials, and the length of all three. */
typedef struct scratch_layout {
  size_t sums, maximums, length;
} scratch_layout;

scratch_layout scratch_lay_out(uint32_t query_heads, uint32_t blocks, uint32_t head_dim);

/* For a stream's own. */
pagedrt_status scratch_new(pagedrt_device *device, pagedrt_scratch **scratch);
pagedrt_status scratch_lock(pagedrt_scratch *scratch);
void scratch_unlock(pagedrt_scratch *scratch);
/* The four verbs, called with the lock held. */
pagedrt_status scratch_prepare(pagedrt_scratch *scratch, const pagedrt_scratch_spec *spec, pagedrt_stream *stream);
void scratch_partial(pagedrt_scratch *scratch, pagedrt_slice dependency, const pagedrt_dispatch **kernel, pagedrt_slice slices[4]);
void scratch_reduce(pagedrt_scratch *scratch, const pagedrt_dispatch **kernel, pagedrt_output_spec *output);
void scratch_update(pagedrt_scratch *scratch, const pagedrt_slice slices[3], pagedrt_slice output);

/* No scratch of the device holds this buffer as its last output any longer. */
void scratches_forget_output(pagedrt_device *device, const pagedrt_buffer *buffer);

#endif
