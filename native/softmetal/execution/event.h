/* A value that only grows, and who waits for it: host threads and parked queues. */
#ifndef SOFTMETAL_EVENT_H
#define SOFTMETAL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "execution/lock.h"

struct work_queue;

typedef struct softmetal_event {
  softmetal_lock lock;
  uint32_t sequence; /* futex: changes with the value */
  uint32_t host_waiters;
  uint64_t value;
  struct work_queue *parked;
} softmetal_event;

uint64_t softmetal_event_value(softmetal_event *self);
void softmetal_event_signal(softmetal_event *self, uint64_t value);
/* False when the time is over first. */
bool softmetal_event_wait(softmetal_event *self, uint64_t value, uint64_t milliseconds);
/* False when the value is reached. Else the queue is no longer the caller's: it becomes claimable
 * when the value is reached. */
bool softmetal_event_park(softmetal_event *self, uint64_t value, struct work_queue *queue);

#endif
