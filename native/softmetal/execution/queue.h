/* A command queue: submissions run one after the other, by whichever thread claims the queue.
 * Lock order: event -> workers' list of queues -> queue. */
#ifndef SOFTMETAL_QUEUE_H
#define SOFTMETAL_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "execution/lock.h"
#include "execution/recording.h"

struct workers;
struct work_queue;

/* MTLCommandBufferStatus's values. */
typedef enum submission_status {
  SUBMISSION_NEW,
  SUBMISSION_ENQUEUED,
  SUBMISSION_COMMITTED,
  SUBMISSION_SCHEDULED,
  SUBMISSION_COMPLETED,
  SUBMISSION_ERROR,
} submission_status;

/* The part of a command buffer that execution sees. It is held from commit to `release`. */
typedef struct submission {
  struct submission *next;
  struct work_queue *queue;
  recording *recording; /* NULL once completed */
  command *cursor;      /* the next command to run */
  uint32_t status;      /* written under the queue's lock; futex */
  uint32_t waiters;
  bool invalid;         /* under the queue's lock: ends in an error, runs nothing more */
  uint64_t start, end;  /* nanoseconds */
  const struct submission_owner *owner;
  void *command_buffer; /* the owner's object */
} submission;

typedef struct submission_owner {
  void (*fail)(submission *self, const char *message); /* the family's message */
  void (*retire)(submission *self);                    /* releases what the recording retained */
  void (*release)(submission *self);
} submission_owner;

typedef struct work_queue {
  softmetal_lock lock;
  struct workers *workers;
  struct work_queue *next, *previous; /* in the workers' list */

  /* Under the lock: */
  submission *first, **last;
  bool running;          /* a thread has claimed it */
  bool parked;           /* on an event */
  uint32_t claimable;    /* also read without the lock, as a hint */
  uint64_t commits;      /* likewise */
  uint32_t uncompleted;  /* futex */
  uint32_t limit;
  uint32_t admission_waiters;
  recording *recordings; /* free ones */

  /* Under the event's lock: */
  struct work_queue *next_parked;
  uint64_t parked_value;
} work_queue;

void softmetal_queue_init(work_queue *self, struct workers *workers, uint32_t limit);
void softmetal_queue_end(work_queue *self);

/* Waits until the queue takes one more submission; false when memory runs out. */
bool softmetal_queue_admit(work_queue *self, submission *submission);
/* Of a submission that was never committed. */
void softmetal_queue_withdraw(submission *submission);
void softmetal_queue_enqueue(submission *submission);
void softmetal_queue_commit(submission *submission);
/* At any time: a completed submission turns into a failed one. */
void softmetal_queue_invalidate(submission *submission);

bool softmetal_queue_claim(work_queue *self);
/* Of a claimed queue: runs what is committed, up to `until` if that is not NULL. */
void softmetal_queue_run(work_queue *self, submission *until);
/* The caller holds the submission, which is committed. Runs pending work itself. */
void softmetal_queue_wait(submission *submission);

void softmetal_queue_park(work_queue *self);
void softmetal_queue_unpark(work_queue *self);

static inline bool queue_claimable(const work_queue *self) {
  return __atomic_load_n(&self->claimable, __ATOMIC_SEQ_CST) != 0;
}

static inline submission_status submission_status_of(const submission *self) {
  return (submission_status)__atomic_load_n(&self->status, __ATOMIC_SEQ_CST);
}

#endif
