#include "metal/command_buffer.h"

#include <stdarg.h>
#include <stdio.h>

#include "execution/fork.h"
#include "foundation/class_cache.h"
#include "hooks.h"
#include "metal/compute_encoder.h"
#include "metal/errors.h"
#include "metal/shared_event.h"

static void submission_fail(submission *submission, const char *message) {
  softmetal_command_buffer_fail(submission->command_buffer, MTLCommandBufferErrorInternal, "%s", message);
}

static void submission_retire(submission *submission) {
  for (retained_block *block = submission->recording->retained; block != NULL; block = block->next) {
    for (uint32_t i = 0; i < block->count; i++) [(id)block->objects[i] release];
  }
}

static void submission_release(submission *submission) {
  [(id)submission->command_buffer release];
}

static const submission_owner owner = {submission_fail, submission_retire, submission_release};

SoftmetalCommandBuffer *softmetal_command_buffer_new(SoftmetalCommandQueue *queue, BOOL retainsReferences) {
  if (softmetal_hook_fails() || softmetal_forked) return nil;
  SoftmetalCommandBuffer *self = [CACHED_CLASS(SoftmetalCommandBuffer) alloc];
  if (self == nil) return nil;
  self->work.owner = &owner;
  self->work.command_buffer = self;
  self->retainsReferences = retainsReferences;
  if (!softmetal_queue_admit(&queue->queue, &self->work)) {
    [self release];
    return nil;
  }
  self->queue = [queue retain];
  return self;
}

void softmetal_command_buffer_fail(SoftmetalCommandBuffer *self, MTLCommandBufferError code, const char *format, ...) {
  char text[448];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  NSError *error = softmetal_error_new(MTLCommandBufferErrorDomain, (NSInteger)code, "%s", text);
  void *none = NULL;
  if (!__atomic_compare_exchange_n(&self->error, &none, (void *)error, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) [error release];
  softmetal_queue_invalidate(&self->work);
}

void softmetal_command_buffer_keep(SoftmetalCommandBuffer *self, id object) {
  if (!self->retainsReferences) return;
  recording *recording = self->work.recording;
  retained_block *block = recording->retained;
  if (block == NULL || block->count == RETAINED_OBJECTS) {
    block = softmetal_recording_take(recording, sizeof *block);
    if (block == NULL) {
      softmetal_command_buffer_fail(self, MTLCommandBufferErrorOutOfMemory, "no memory to record what is to be retained");
      return;
    }
    block->next = recording->retained;
    block->count = 0;
    recording->retained = block;
  }
  block->objects[block->count++] = [object retain];
}

@implementation SoftmetalCommandBuffer

- (void)dealloc {
  if (queue != nil && !committed) {
    if (work.recording != NULL) submission_retire(&work);
    softmetal_queue_withdraw(&work);
  }
  [(id)error release];
  [queue release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return queue->device;
}

- (id<MTLCommandQueue>)commandQueue {
  return queue;
}

- (BOOL)retainedReferences {
  return retainsReferences;
}

/* What may be recorded into; else the failure is noted and `call` named. */
- (BOOL)mayEncode:(const char *)call {
  if (softmetal_forked) return NO;
  if (committed) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorInternal, "%s after commit, expected before it", call);
    return NO;
  }
  if (openEncoder != nil) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorInternal, "%s while an encoder is open, expected its endEncoding first", call);
    return NO;
  }
  return YES;
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  if (softmetal_hook_fails() || ![self mayEncode:"computeCommandEncoder"]) return nil;
  openEncoder = softmetal_compute_encoder_new(self);
  return [openEncoder autorelease];
}

- (void)encode:(command_kind)kind event:(id<MTLEvent>)event value:(uint64_t)value call:(const char *)call {
  if (![self mayEncode:call]) return;
  if (![event isKindOfClass:CACHED_CLASS(SoftmetalSharedEvent)]) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorInvalidResource, "%s: nil or an event of another Metal", call);
    return;
  }
  command *added = softmetal_recording_add(work.recording, kind);
  if (added == NULL) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorOutOfMemory, "%s: no memory to record it", call);
    return;
  }
  added->of.event.event = &((SoftmetalSharedEvent *)event)->event;
  added->of.event.value = value;
  softmetal_command_buffer_keep(self, event);
}

- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [self encode:COMMAND_WAIT event:event value:value call:"encodeWaitForEvent:value:"];
}

- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [self encode:COMMAND_SIGNAL event:event value:value call:"encodeSignalEvent:value:"];
}

- (void)enqueue {
  if (softmetal_forked) return;
  if (committed || submission_status_of(&work) != SUBMISSION_NEW) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorInternal, "enqueue again or after commit, expected once before it");
    return;
  }
  softmetal_queue_enqueue(&work);
}

- (void)commit {
  if (softmetal_forked) return;
  if (committed) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorInternal, "commit again, expected it once");
    return;
  }
  if (openEncoder != nil) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorInternal, "commit while an encoder is open, expected its endEncoding first");
  }
  if (softmetal_hook_fails()) {
    softmetal_command_buffer_fail(self, (MTLCommandBufferError)softmetal_hook_failure_code(), "the command buffer failed for a test");
  }
  committed = YES;
  [self retain];
  softmetal_queue_commit(&work);
}

- (void)waitUntilCompleted {
  if (softmetal_forked) return;
  if (!committed) {
    softmetal_command_buffer_fail(self, MTLCommandBufferErrorInternal, "waitUntilCompleted before commit, expected after it");
    return;
  }
  softmetal_queue_wait(&work);
}

- (MTLCommandBufferStatus)status {
  return submission_status_of(&work);
}

- (NSError *)error {
  return submission_status_of(&work) == SUBMISSION_ERROR ? (NSError *)__atomic_load_n(&error, __ATOMIC_ACQUIRE) : nil;
}

- (CFTimeInterval)GPUStartTime {
  return submission_status_of(&work) >= SUBMISSION_COMPLETED ? (double)work.start * 1e-9 : 0;
}

- (CFTimeInterval)GPUEndTime {
  return submission_status_of(&work) >= SUBMISSION_COMPLETED ? (double)work.end * 1e-9 : 0;
}

@end
