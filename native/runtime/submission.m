#include "submission.h"

#include <string.h>

#include "device.h"
#include "scratch.h"

void submission_clear_slot(submission *batch, uint32_t slot) {
  pagedrt_call_status *statuses = [batch->statuses contents];
  statuses[slot] = (pagedrt_call_status){PAGEDRT_UNSET, PAGEDRT_UNSET};
}

void submission_add_temporaries(submission *batch, pagedrt_buffer *temporaries, uint32_t slot) {
  /* In order of calls: of two outputs bounced to one place the later stays. */
  pagedrt_buffer **link = batch->last_temporary != NULL ? &batch->last_temporary->next : &batch->temporaries;
  *link = temporaries;
  for (; temporaries != NULL; temporaries = temporaries->next) {
    temporaries->slot = slot;
    if (temporaries->destination != NULL) batch->bounces = true;
    batch->last_temporary = temporaries;
  }
}

bool submission_bounces_into(const submission *batch, const void *pointer, size_t length) {
  uintptr_t start = (uintptr_t)pointer;
  for (const pagedrt_buffer *buffer = batch->temporaries; buffer != NULL; buffer = buffer->next) {
    uintptr_t destination = (uintptr_t)buffer->destination;
    if (destination != 0 && start < destination + buffer->length && destination < start + length) return true;
  }
  return false;
}

static bool status_good(pagedrt_call_status status) {
  return status.bad_page == PAGEDRT_UNSET && status.bad_dependency == PAGEDRT_UNSET;
}

static void report(const call_record *record, pagedrt_call_status status, uint64_t call, failure *kept) {
  unsigned long long number = call;
  if (status.bad_dependency != PAGEDRT_UNSET) {
    failure_keep(kept, PAGEDRT_INVALID_INPUT,
                 "dependency[0] = %u: expected at most context_tokens = %u (call %llu since the last synchronize)",
                 record->dependency[0], record->context_tokens, number);
  } else {
    uint32_t index = status.bad_page < record->page_table_length ? status.bad_page : 0;
    failure_keep(kept, PAGEDRT_INVALID_INPUT,
                 "page_table[%u] = %u: expected a page below page_capacity = %u (call %llu since the last synchronize)",
                 index, record->page_table[index], record->page_capacity, number);
  }
}

static void release_temporaries(submission *batch, pagedrt_device *device, const pagedrt_call_status *statuses, bool failed) {
  pagedrt_buffer *buffer = batch->temporaries;
  while (buffer != NULL) {
    pagedrt_buffer *next = buffer->next;
    if (buffer->destination != NULL && !failed && status_good(statuses[buffer->slot])) {
      memcpy(buffer->destination, buffer->pointer, buffer->length);
    }
    /* The memory it wraps may be gone before the scratch's next call. */
    if (buffer->wrapped && buffer->writable) scratches_forget_output(device, buffer);
    object_release(buffer);
    buffer = next;
  }
  batch->temporaries = batch->last_temporary = NULL;
}

static void report_failed(id<MTLCommandBuffer> metal, failure *kept) {
  NSError *error = [metal error];
  const char *text = [[error localizedDescription] UTF8String];
  bool memory = [error code] == MTLCommandBufferErrorOutOfMemory;
  failure_keep(kept, memory ? PAGEDRT_OUT_OF_MEMORY : PAGEDRT_DEVICE_ERROR, "command buffer failed: %s",
               text != NULL ? text : "no reason given");
}

/* A command buffer that failed early has no times. */
static void count_gpu_time(id<MTLCommandBuffer> metal, uint64_t *nanoseconds) {
  double seconds = [metal GPUEndTime] - [metal GPUStartTime];
  if (seconds > 0) count_up(nanoseconds, (uint64_t)(seconds * 1e9));
}

bool submission_reap(submission *batch, pagedrt_device *device, failure *kept) {
  bool failed = [batch->metal status] == MTLCommandBufferStatusError;
  if (failed) report_failed(batch->metal, kept);
  else count_gpu_time(batch->metal, &device->counters.gpu_nanoseconds);
  const pagedrt_call_status *statuses = [batch->statuses contents];
  for (uint32_t i = 0; i < batch->calls; i++) {
    const call_record *record = &batch->records[i];
    if (!failed && !status_good(statuses[i])) report(record, statuses[i], batch->first_call + i, kept);
    object_release(record->page_table_buffer);
    object_release(record->dependency_buffer);
  }
  release_temporaries(batch, device, statuses, failed);
  [batch->metal release];
  batch->metal = nil;
  return failed;
}
