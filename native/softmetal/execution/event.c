#include "execution/event.h"

#include "execution/clock.h"
#include "execution/fork.h"
#include "execution/futex.h"
#include "execution/queue.h"
#include "execution/workers.h"

uint64_t softmetal_event_value(softmetal_event *self) {
  return __atomic_load_n(&self->value, __ATOMIC_ACQUIRE);
}

/* Called with the event's lock held. The queue may be gone as soon as it is claimable: its workers
 * are held meanwhile. */
static void unpark(work_queue *queue) {
  workers *workers = softmetal_workers_retain(queue->workers);
  softmetal_queue_unpark(queue);
  softmetal_workers_attend(workers);
  softmetal_workers_release(workers);
}

void softmetal_event_signal(softmetal_event *self, uint64_t value) {
  if (softmetal_forked) return;
  lock_take(&self->lock);
  if (value > self->value) {
    __atomic_store_n(&self->value, value, __ATOMIC_RELEASE);
    __atomic_store_n(&self->sequence, self->sequence + 1, __ATOMIC_SEQ_CST);
    work_queue **link = &self->parked;
    while (*link != NULL) {
      work_queue *queue = *link;
      if (queue->parked_value > value) {
        link = &queue->next_parked;
        continue;
      }
      *link = queue->next_parked;
      unpark(queue);
    }
  }
  bool wake = self->host_waiters > 0;
  lock_drop(&self->lock);
  if (wake) futex_wake(&self->sequence, INT_MAX);
}

/* The nanoseconds left, 0 when none are; `deadline` 0 is never. */
static bool time_left(uint64_t deadline, uint64_t *left) {
  *left = 0;
  if (deadline == 0) return true;
  uint64_t now = clock_nanoseconds();
  if (now >= deadline) return false;
  *left = deadline - now;
  return true;
}

bool softmetal_event_wait(softmetal_event *self, uint64_t value, uint64_t milliseconds) {
  if (softmetal_event_value(self) >= value) return true;
  if (softmetal_forked) return false;
  uint64_t now = clock_nanoseconds();
  uint64_t deadline = milliseconds > (UINT64_MAX - now) / 1000000 ? 0 : now + milliseconds * 1000000;
  bool reached = false;
  uint64_t left;
  lock_take(&self->lock);
  self->host_waiters++;
  while (!(reached = self->value >= value) && time_left(deadline, &left)) {
    uint32_t sequence = self->sequence;
    lock_drop(&self->lock);
    futex_wait(&self->sequence, sequence, left);
    lock_take(&self->lock);
  }
  self->host_waiters--;
  lock_drop(&self->lock);
  return reached;
}

bool softmetal_event_park(softmetal_event *self, uint64_t value, work_queue *queue) {
  lock_take(&self->lock);
  bool park = self->value < value;
  if (park) {
    queue->parked_value = value;
    queue->next_parked = self->parked;
    self->parked = queue;
    softmetal_queue_park(queue);
  }
  lock_drop(&self->lock);
  return park;
}
