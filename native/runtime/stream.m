#include "stream.h"

#include <stdlib.h>

#include "device.h"
#include "errors.h"
#include "fork.h"
#include "scratch.h"

/* --- the ring of submissions; all called with stream->lock held ---------------------------- */

static submission *oldest_of(pagedrt_stream *stream) {
  return &stream->submissions[stream->oldest];
}

static submission *open_of(pagedrt_stream *stream) {
  return &stream->submissions[(stream->oldest + stream->in_flight) % STREAM_SUBMISSIONS];
}

static void commit(pagedrt_stream *stream) {
  submission *batch = open_of(stream);
  [batch->encoder endEncoding];
  [batch->encoder release];
  batch->encoder = nil;
  if (batch->shared) [batch->metal encodeSignalEvent:stream->event value:batch->serial];
  [batch->metal commit];
  stream->open = false;
  stream->in_flight++;
  count_up(&stream->device->counters.command_buffers, 1);
}

static void reap_oldest(pagedrt_stream *stream) {
  submission *batch = oldest_of(stream);
  bool failed = submission_reap(batch, stream->device, &stream->failure);
  /* A failed command buffer signals nothing: whoever waits for it would wait forever. */
  if (failed && [stream->event signaledValue] < batch->serial) [stream->event setSignaledValue:batch->serial];
  stream->oldest = (stream->oldest + 1) % STREAM_SUBMISSIONS;
  stream->in_flight--;
  pagedrt_stream *after = batch->after.stream;
  batch->after.stream = NULL;
  object_release(after);
}

/* Waits for the submissions up to `serial`, and first for those that they wait for, since one that
 * failed is signalled by hand when it is reaped. Drops the lock while waiting. */
static void wait_through(pagedrt_stream *stream, uint64_t serial) {
  while (stream->in_flight > 0 && oldest_of(stream)->serial <= serial) {
    submission *batch = oldest_of(stream);
    uint64_t waited = batch->serial;
    id<MTLCommandBuffer> metal = [batch->metal retain];
    order_point after = batch->after;
    if (after.stream != NULL) object_retain(after.stream);
    pthread_mutex_unlock(&stream->lock);
    if (after.stream != NULL) {
      pthread_mutex_lock(&after.stream->lock);
      wait_through(after.stream, after.serial);
      pthread_mutex_unlock(&after.stream->lock);
      object_release(after.stream);
    }
    count_up(&stream->device->counters.waits, 1);
    [metal waitUntilCompleted];
    [metal release];
    pthread_mutex_lock(&stream->lock);
    if (stream->in_flight > 0 && oldest_of(stream)->serial == waited) reap_oldest(stream);
  }
}

static void commit_if_any(pagedrt_stream *stream) {
  if (stream->open && (open_of(stream)->calls > 0 || open_of(stream)->after.stream != NULL)) commit(stream);
}

static void drain(pagedrt_stream *stream) {
  commit_if_any(stream);
  wait_through(stream, stream->serial);
}

static pagedrt_status take_failure(pagedrt_stream *stream) {
  stream->calls = 0;
  return failure_take(&stream->failure);
}

static pagedrt_status open_submission(pagedrt_stream *stream, const order_point *after) {
  submission *batch = open_of(stream);
  id<MTLCommandBuffer> metal = [stream->queue commandBuffer];
  if (metal == nil) return error_set(PAGEDRT_DEVICE_ERROR, "the device gave no command buffer");
  if (after != NULL) [metal encodeWaitForEvent:after->stream->event value:after->serial];
  id<MTLComputeCommandEncoder> encoder = [metal computeCommandEncoder];
  if (encoder == nil) return error_set(PAGEDRT_DEVICE_ERROR, "the device gave no command encoder");
  batch->metal = [metal retain];
  batch->encoder = [encoder retain];
  batch->serial = ++stream->serial;
  batch->calls = 0;
  batch->shared = false;
  batch->bounces = false;
  if (after != NULL) {
    object_retain(after->stream);
    batch->after = *after;
  }
  stream->open = true;
  return PAGEDRT_OK;
}

/* --- one call -------------------------------------------------------------------------------- */

static pagedrt_status closed_error(void) {
  return error_set(PAGEDRT_DEVICE_ERROR, "stream is closed");
}

pagedrt_status stream_begin(pagedrt_stream *stream, const order_point *after, call_site *site) {
  pagedrt_status status = PAGEDRT_OK;
  pthread_mutex_lock(&stream->lock);
  if (stream->open && (after != NULL || open_of(stream)->calls == SUBMISSION_CALLS)) commit(stream);
  /* Another thread may open, fill or close the stream while this one waits. */
  while (!stream->closed && !stream->open && stream->in_flight == STREAM_SUBMISSIONS) {
    wait_through(stream, oldest_of(stream)->serial);
    if (stream->open && (after != NULL || open_of(stream)->calls == SUBMISSION_CALLS)) commit(stream);
  }
  if (stream->closed) {
    status = closed_error();
  } else if (!stream->open) {
    status = open_submission(stream, after);
  }
  if (status != PAGEDRT_OK) {
    pthread_mutex_unlock(&stream->lock);
    return status;
  }
  submission *batch = open_of(stream);
  site->encoder = batch->encoder;
  site->statuses = batch->statuses;
  site->slot = batch->calls;
  submission_clear_slot(batch, batch->calls);
  return PAGEDRT_OK;
}

uint64_t stream_end(pagedrt_stream *stream, const call_record *record, pagedrt_buffer *temporaries, bool shared) {
  submission *batch = open_of(stream);
  uint64_t serial = batch->serial;
  if (batch->calls == 0) batch->first_call = stream->calls;
  submission_add_temporaries(batch, temporaries, batch->calls);
  object_retain(record->page_table_buffer);
  object_retain(record->dependency_buffer);
  batch->records[batch->calls++] = *record;
  batch->shared = batch->shared || shared;
  stream->calls++;
  pthread_mutex_unlock(&stream->lock);
  return serial;
}

void stream_abandon(pagedrt_stream *stream) {
  pthread_mutex_unlock(&stream->lock);
}

void stream_settle(pagedrt_stream *stream, const void *const *pointers, const size_t *lengths, unsigned count) {
  pthread_mutex_lock(&stream->lock);
  bool overlaps = false;
  for (unsigned i = 0; i < stream->in_flight + stream->open; i++) {
    const submission *batch = &stream->submissions[(stream->oldest + i) % STREAM_SUBMISSIONS];
    for (unsigned j = 0; j < count && batch->bounces; j++) {
      overlaps = overlaps || submission_bounces_into(batch, pointers[j], lengths[j]);
    }
  }
  if (overlaps) drain(stream);
  pthread_mutex_unlock(&stream->lock);
}

void stream_commit(pagedrt_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  commit_if_any(stream);
  pthread_mutex_unlock(&stream->lock);
}

pagedrt_status stream_finish(pagedrt_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  drain(stream);
  pagedrt_status status = take_failure(stream);
  pthread_mutex_unlock(&stream->lock);
  return status;
}

/* --- order between streams --------------------------------------------------------------------- */

bool order_pending(const order_point *last, pagedrt_stream *next) {
  pagedrt_stream *former = last->stream;
  if (former == NULL || former == next) return false;
  pthread_mutex_lock(&former->lock);
  if (former->open && open_of(former)->serial <= last->serial) commit(former);
  bool pending = false;
  for (unsigned i = 0; i < former->in_flight; i++) {
    submission *batch = &former->submissions[(former->oldest + i) % STREAM_SUBMISSIONS];
    if (batch->serial != last->serial) continue;
    if (batch->bounces) {
      /* The next call may read what only the host can deliver. */
      wait_through(former, last->serial);
    } else {
      pending = [batch->metal status] < MTLCommandBufferStatusCompleted;
    }
    break;
  }
  pthread_mutex_unlock(&former->lock);
  return pending;
}

void order_move(order_point *last, pagedrt_stream *stream, uint64_t serial) {
  last->serial = serial;
  if (last->stream == stream) return;
  pagedrt_stream *former = last->stream;
  object_retain(stream);
  last->stream = stream;
  object_release(former);
}

/* --- life ------------------------------------------------------------------------------------- */

static void unlist(pagedrt_stream *stream) {
  pthread_mutex_lock(&stream->device->lists);
  pagedrt_stream **link = &stream->device->streams;
  while (*link != NULL && *link != stream) link = &(*link)->next_of_device;
  if (*link != NULL) *link = stream->next_of_device;
  pthread_mutex_unlock(&stream->device->lists);
}

/* Nothing is in flight: destroy drains, and so does whoever gives a borrowed stream back. */
static void stream_dispose(void *self) {
  pagedrt_stream *stream = self;
  unlist(stream);
  if (stream->open) {
    submission *batch = open_of(stream);
    [batch->encoder endEncoding];
    [batch->encoder release];
    [batch->metal release];
  }
  for (int i = 0; i < STREAM_SUBMISSIONS; i++) [stream->submissions[i].statuses release];
  object_release(stream->scratch);
  [stream->event release];
  [stream->queue release];
  pthread_mutex_destroy(&stream->lock);
  if (!stream->internal) object_release(stream->device);
  free(stream);
}

static pagedrt_status stream_new(pagedrt_device *device, bool internal, pagedrt_stream **out) {
  pagedrt_stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL) return error_set(PAGEDRT_OUT_OF_MEMORY, "stream: no memory for its handle");
  if (pthread_mutex_init(&stream->lock, NULL) != 0) {
    free(stream);
    return error_set(PAGEDRT_OUT_OF_MEMORY, "stream: no memory for its lock");
  }
  object_init(&stream->object, stream_dispose);
  stream->device = device;
  stream->internal = internal;
  if (!internal) object_retain(device);
  stream->queue = [device->metal newCommandQueue];
  stream->event = [device->metal newSharedEvent];
  bool complete = stream->queue != nil && stream->event != nil;
  for (int i = 0; i < STREAM_SUBMISSIONS; i++) {
    id<MTLBuffer> statuses = [device->metal newBufferWithLength:SUBMISSION_CALLS * sizeof(pagedrt_call_status)
                                                        options:MTLResourceStorageModeShared];
    stream->submissions[i].statuses = statuses;
    complete = complete && statuses != nil;
  }
  if (!complete) {
    object_release(stream);
    return error_set(PAGEDRT_OUT_OF_MEMORY, "stream: the device gave no queue, event or status buffer");
  }
  pthread_mutex_lock(&device->lists);
  stream->id = device->streams != NULL ? device->streams->id + 1 : 1;
  stream->next_of_device = device->streams;
  device->streams = stream;
  pthread_mutex_unlock(&device->lists);
  *out = stream;
  return PAGEDRT_OK;
}

/* The device's newest stream older than `before` (+1), or NULL: a walk that holds no lock meanwhile. */
static pagedrt_stream *stream_before(pagedrt_device *device, uint64_t before) {
  pthread_mutex_lock(&device->lists);
  pagedrt_stream *stream = device->streams;
  while (stream != NULL && (stream->id >= before || !object_retain_if_alive(stream))) stream = stream->next_of_device;
  pthread_mutex_unlock(&device->lists);
  return stream;
}

void streams_drain(pagedrt_device *device) {
  uint64_t before = UINT64_MAX;
  for (pagedrt_stream *stream; (stream = stream_before(device, before)) != NULL; object_release(stream)) {
    before = stream->id;
    pthread_mutex_lock(&stream->lock);
    drain(stream);
    pthread_mutex_unlock(&stream->lock);
  }
}

/* Failures of a call without a stream are its caller's. */
static pagedrt_status close_stream(pagedrt_stream *stream) {
  pagedrt_status status = PAGEDRT_OK;
  pthread_mutex_lock(&stream->lock);
  stream->closed = true; /* first: while drain waits, other threads must not add calls */
  drain(stream);
  if (!stream->internal) status = take_failure(stream);
  pthread_mutex_unlock(&stream->lock);
  return status;
}

pagedrt_status streams_close(pagedrt_device *device) {
  pagedrt_status first = PAGEDRT_OK;
  uint64_t before = UINT64_MAX;
  for (pagedrt_stream *stream; (stream = stream_before(device, before)) != NULL; object_release(stream)) {
    before = stream->id;
    pagedrt_status status = close_stream(stream);
    if (first == PAGEDRT_OK) first = status;
  }
  return first;
}

void streams_end(pagedrt_device *device) {
  while (device->idle != NULL) {
    pagedrt_stream *stream = device->idle;
    device->idle = stream->next_idle;
    object_release(stream);
  }
}

pagedrt_status stream_borrow(pagedrt_device *device, pagedrt_stream **stream) {
  pthread_mutex_lock(&device->lists);
  *stream = device->idle;
  if (*stream != NULL) device->idle = (*stream)->next_idle;
  pthread_mutex_unlock(&device->lists);
  return *stream != NULL ? PAGEDRT_OK : stream_new(device, true, stream);
}

void stream_give_back(pagedrt_stream *stream) {
  pthread_mutex_lock(&stream->device->lists);
  stream->next_idle = stream->device->idle;
  stream->device->idle = stream;
  pthread_mutex_unlock(&stream->device->lists);
}

pagedrt_status stream_scratch(pagedrt_stream *stream, pagedrt_scratch **scratch) {
  pagedrt_status status = PAGEDRT_OK;
  pthread_mutex_lock(&stream->lock);
  if (stream->scratch == NULL) status = scratch_new(stream->device, &stream->scratch);
  *scratch = stream->scratch;
  pthread_mutex_unlock(&stream->lock);
  return status;
}

pagedrt_status stream_usable(pagedrt_stream *stream) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (stream == NULL) return error_set(PAGEDRT_INVALID_INPUT, "stream: NULL, expected a stream");
  return device_usable(stream->device);
}

pagedrt_status pagedrt_stream_create(pagedrt_device *device, pagedrt_stream **stream) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (stream == NULL) return error_set(PAGEDRT_INVALID_INPUT, "stream: NULL, expected a place for the handle");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  status = stream_new(device, false, stream);
  [pool drain];
  return status;
}

/* Waits even where another thread has closed the device or stream: the caller lets its arrays go next. */
static pagedrt_status synchronize(pagedrt_stream *stream, bool take) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (stream == NULL) return error_set(PAGEDRT_INVALID_INPUT, "stream: NULL, expected a stream");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  pthread_mutex_lock(&stream->lock);
  drain(stream);
  status = device_usable(stream->device);
  if (status == PAGEDRT_OK && stream->closed) status = closed_error();
  if (status == PAGEDRT_OK && take) status = take_failure(stream);
  pthread_mutex_unlock(&stream->lock);
  [pool drain];
  return status;
}

pagedrt_status pagedrt_stream_synchronize(pagedrt_stream *stream) {
  return synchronize(stream, true);
}

pagedrt_status pagedrt_stream_drain(pagedrt_stream *stream) {
  return synchronize(stream, false);
}

pagedrt_status pagedrt_stream_close(pagedrt_stream *stream) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (stream == NULL) return error_set(PAGEDRT_INVALID_INPUT, "stream: NULL, expected a stream");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  status = close_stream(stream);
  [pool drain];
  return status;
}

void pagedrt_stream_destroy(pagedrt_stream *stream) {
  if (stream == NULL || fork_happened()) return;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  close_stream(stream);
  object_release(stream);
  [pool drain];
}
