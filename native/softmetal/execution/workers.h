/* A device's threads. They claim queues and help with jobs; one of them, the poller, looks for work
 * now and then while there was some of late, so that a commit needs no system call. */
#ifndef SOFTMETAL_WORKERS_H
#define SOFTMETAL_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "execution/jobs.h"
#include "execution/lock.h"
#include "execution/queue.h"

enum { MAX_WORKERS = 1024 };

typedef struct workers {
  const softmetal_family *family;
  uint32_t threads;
  uint32_t references; /* the device, each thread, and who else must not lose them */
  pthread_t *ids;
  softmetal_lock lock; /* guards queues */
  work_queue *queues;

  uint32_t wake_word __attribute__((aligned(64))); /* futex: changes when sleepers should look */
  uint32_t sleepers;  /* in a futex wait */
  uint32_t attentive; /* will look at the queues within a poll's time */
  uint32_t spinning;  /* will see a job at once */
  uint32_t poller;    /* 1: somebody is it */
  uint32_t to_wake;   /* sleepers that the woken are to wake */
  uint32_t stop;
  uint32_t ready;     /* futex: threads that have allocated what they ever will, or failed to */
  uint32_t failed;
  job_board board;
} workers;

/* NULL when threads or memory run out. */
workers *softmetal_workers_create(const softmetal_family *family, uint32_t threads);
/* No queue is left. Any thread may call this, also one of the workers. */
void softmetal_workers_destroy(workers *self);
workers *softmetal_workers_retain(workers *self);
void softmetal_workers_release(workers *self);

void softmetal_workers_add_queue(workers *self, work_queue *queue);
void softmetal_workers_remove_queue(workers *self, work_queue *queue);

/* A queue has become claimable: sees to it that a worker looks. */
void softmetal_workers_attend(workers *self);
/* A job has room for `count` helpers. */
void softmetal_workers_wake(workers *self, uint32_t count);

#endif
