#include "execution/queue.h"

#include "execution/clock.h"
#include "execution/event.h"
#include "execution/fork.h"
#include "execution/futex.h"
#include "execution/jobs.h"
#include "execution/workers.h"
#include "hooks.h"

enum { WAIT_SPIN_NANOSECONDS = 5000 };

/* Called with the lock held, after every change to what it reads. */
static void update_claimable(work_queue *self) {
  bool claimable = !self->running && !self->parked && self->first != NULL && self->first->status >= SUBMISSION_COMMITTED;
  if (claimable != (self->claimable != 0)) __atomic_store_n(&self->claimable, claimable, __ATOMIC_SEQ_CST);
}

static void set_status(submission *submission, submission_status status) {
  __atomic_store_n(&submission->status, status, __ATOMIC_SEQ_CST);
}

void softmetal_queue_init(work_queue *self, struct workers *workers, uint32_t limit) {
  self->workers = workers;
  self->last = &self->first;
  self->limit = limit;
  softmetal_workers_add_queue(workers, self);
}

void softmetal_queue_end(work_queue *self) {
  softmetal_workers_remove_queue(self->workers, self);
  while (self->recordings != NULL) {
    recording *next = self->recordings->next;
    softmetal_recording_destroy(self->recordings);
    self->recordings = next;
  }
}

bool softmetal_queue_admit(work_queue *self, submission *submission) {
  lock_take(&self->lock);
  while (self->uncompleted >= self->limit) {
    self->admission_waiters++;
    softmetal_hook_count_command_buffer_wait();
    uint32_t seen = self->uncompleted;
    lock_drop(&self->lock);
    futex_wait(&self->uncompleted, seen, 0);
    lock_take(&self->lock);
    self->admission_waiters--;
  }
  recording *recording = self->recordings;
  if (recording != NULL) self->recordings = recording->next;
  __atomic_store_n(&self->uncompleted, self->uncompleted + 1, __ATOMIC_RELAXED);
  lock_drop(&self->lock);
  submission->queue = self;
  submission->recording = recording != NULL ? recording : softmetal_recording_create();
  if (submission->recording != NULL) return true;
  softmetal_queue_withdraw(submission);
  return false;
}

/* Called with the lock held. Who waits for admission must be woken once it is dropped. */
static bool leave(submission *submission) {
  work_queue *self = submission->queue;
  if (submission->recording != NULL) {
    submission->recording->next = self->recordings;
    self->recordings = submission->recording;
    submission->recording = NULL;
  }
  __atomic_store_n(&self->uncompleted, self->uncompleted - 1, __ATOMIC_RELAXED);
  return self->admission_waiters > 0;
}

void softmetal_queue_withdraw(submission *withdrawn) {
  if (softmetal_forked) return;
  work_queue *self = withdrawn->queue;
  if (withdrawn->recording != NULL) softmetal_recording_reset(withdrawn->recording);
  lock_take(&self->lock);
  for (submission **link = &self->first; *link != NULL; link = &(*link)->next) {
    if (*link != withdrawn) continue;
    *link = withdrawn->next;
    if (*link == NULL) self->last = link;
    break;
  }
  update_claimable(self);
  bool attend = self->claimable != 0, admit = leave(withdrawn);
  lock_drop(&self->lock);
  if (attend) softmetal_workers_attend(self->workers);
  if (admit) futex_wake(&self->uncompleted, INT_MAX);
}

/* Called with the lock held. */
static void append(submission *submission) {
  work_queue *self = submission->queue;
  *self->last = submission;
  self->last = &submission->next;
}

void softmetal_queue_enqueue(submission *submission) {
  lock_take(&submission->queue->lock);
  if (submission->status == SUBMISSION_NEW) {
    append(submission);
    set_status(submission, SUBMISSION_ENQUEUED);
  }
  lock_drop(&submission->queue->lock);
}

void softmetal_queue_commit(submission *submission) {
  work_queue *self = submission->queue;
  workers *workers = self->workers;
  submission->cursor = submission->recording->first;
  lock_take(&self->lock);
  if (submission->status == SUBMISSION_NEW) append(submission);
  set_status(submission, SUBMISSION_COMMITTED);
  __atomic_store_n(&self->commits, self->commits + 1, __ATOMIC_RELAXED);
  update_claimable(self);
  bool attend = self->claimable != 0;
  lock_drop(&self->lock);
  if (attend) softmetal_workers_attend(workers);
}

void softmetal_queue_invalidate(submission *submission) {
  lock_take(&submission->queue->lock);
  submission->invalid = true;
  if (submission->status == SUBMISSION_COMPLETED) set_status(submission, SUBMISSION_ERROR);
  lock_drop(&submission->queue->lock);
}

bool softmetal_queue_claim(work_queue *self) {
  if (!queue_claimable(self)) return false;
  lock_take(&self->lock);
  bool claimed = self->claimable != 0;
  if (claimed) {
    self->running = true;
    update_claimable(self);
  }
  lock_drop(&self->lock);
  return claimed;
}

void softmetal_queue_park(work_queue *self) {
  lock_take(&self->lock);
  self->running = false;
  self->parked = true;
  lock_drop(&self->lock);
}

void softmetal_queue_unpark(work_queue *self) {
  lock_take(&self->lock);
  self->parked = false;
  update_claimable(self);
  lock_drop(&self->lock);
}

/* False when the queue is parked, and so no longer the caller's. */
static bool run_commands(work_queue *self, submission *submission) {
  while (submission->cursor != NULL) {
    command *command = submission->cursor;
    if (command->kind == COMMAND_WAIT) {
      submission->cursor = command->next;
      if (softmetal_event_park(command->of.event.event, command->of.event.value, self)) return false;
      continue;
    }
    if (command->kind == COMMAND_SIGNAL) {
      softmetal_event_signal(command->of.event.event, command->of.event.value);
    } else {
      char message[FAMILY_MESSAGE];
      if (!softmetal_jobs_run(self->workers, &command->of.dispatch, message)) {
        submission->owner->fail(submission, message);
        return true;
      }
    }
    submission->cursor = command->next;
  }
  return true;
}

/* Called with the lock held. */
static bool begin(submission *submission) {
  set_status(submission, SUBMISSION_SCHEDULED);
  return !submission->invalid;
}

/* Ends the queue's first submission. False when the queue is no longer the caller's. */
static bool finish(work_queue *self, submission *until) {
  submission *done = self->first;
  done->owner->retire(done);
  softmetal_recording_reset(done->recording);
  done->end = clock_nanoseconds();
  lock_take(&self->lock);
  self->first = done->next;
  if (self->first == NULL) self->last = &self->first;
  bool more = done != until && self->first != NULL && self->first->status == SUBMISSION_COMMITTED;
  self->running = more;
  update_claimable(self);
  bool attend = self->claimable != 0, admit = leave(done);
  set_status(done, done->invalid ? SUBMISSION_ERROR : SUBMISSION_COMPLETED);
  lock_drop(&self->lock);
  if (__atomic_load_n(&done->waiters, __ATOMIC_SEQ_CST) > 0) futex_wake(&done->status, INT_MAX);
  if (admit) futex_wake(&self->uncompleted, INT_MAX);
  if (attend) softmetal_workers_attend(self->workers);
  done->owner->release(done);
  return more;
}

void softmetal_queue_run(work_queue *self, submission *until) {
  bool mine = true;
  while (mine) {
    lock_take(&self->lock);
    submission *submission = self->first;
    bool valid = begin(submission);
    lock_drop(&self->lock);
    if (submission->start == 0) submission->start = clock_nanoseconds();
    if (valid && !run_commands(self, submission)) return;
    mine = finish(self, until);
  }
}

/* Worth a short spin: the end of a submission that another thread runs may be near. */
static void spin(submission *submission) {
  uint64_t until = clock_nanoseconds() + WAIT_SPIN_NANOSECONDS;
  do {
    for (int i = 0; i < 16; i++) {
      if (submission_status_of(submission) >= SUBMISSION_COMPLETED) return;
      cpu_pause();
    }
  } while (clock_nanoseconds() < until && !queue_claimable(submission->queue));
}

void softmetal_queue_wait(submission *submission) {
  work_queue *queue = submission->queue;
  for (;;) {
    uint32_t status = submission_status_of(submission);
    if (status >= SUBMISSION_COMPLETED) return;
    if (softmetal_queue_claim(queue)) {
      softmetal_queue_run(queue, submission);
      continue;
    }
    if (softmetal_jobs_help(queue->workers, submission)) continue;
    spin(submission);
    __atomic_fetch_add(&submission->waiters, 1, __ATOMIC_SEQ_CST);
    status = submission_status_of(submission);
    if (status < SUBMISSION_COMPLETED && !queue_claimable(queue)) futex_wait(&submission->status, status, 0);
    __atomic_fetch_sub(&submission->waiters, 1, __ATOMIC_SEQ_CST);
  }
}
