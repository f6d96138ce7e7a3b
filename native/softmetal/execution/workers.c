#include "execution/workers.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "execution/clock.h"
#include "execution/fork.h"
#include "execution/futex.h"
#include "execution/thread.h"

/* After work a worker spins as long as a caller takes to come with the next call. The poller looks ever
 * more rarely while callers run their work themselves, and gives up when nothing was committed for IDLE. */
enum {
  SPIN_NANOSECONDS = 20000,
  FIRST_POLL_NANOSECONDS = 50000,
  LAST_POLL_NANOSECONDS = 400000,
  IDLE_NANOSECONDS = 10000000,
  STACK_BYTES = 1 << 20,
};

static uint32_t get(const uint32_t *word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void add(uint32_t *word, uint32_t by) {
  __atomic_fetch_add(word, by, __ATOMIC_SEQ_CST);
}

workers *softmetal_workers_retain(workers *self) {
  __atomic_fetch_add(&self->references, 1, __ATOMIC_RELAXED);
  return self;
}

void softmetal_workers_release(workers *self) {
  if (__atomic_fetch_sub(&self->references, 1, __ATOMIC_ACQ_REL) != 1) return;
  free(self->ids);
  free(self);
}

void softmetal_workers_add_queue(workers *self, work_queue *queue) {
  lock_take(&self->lock);
  queue->next = self->queues;
  if (self->queues != NULL) self->queues->previous = queue;
  self->queues = queue;
  lock_drop(&self->lock);
}

void softmetal_workers_remove_queue(workers *self, work_queue *queue) {
  if (softmetal_forked) return; /* the lock may be held by a thread that the child lacks */
  lock_take(&self->lock);
  if (queue->next != NULL) queue->next->previous = queue->previous;
  if (queue->previous != NULL) queue->previous->next = queue->next;
  else self->queues = queue->next;
  lock_drop(&self->lock);
}

static void wake_sleepers(workers *self, uint32_t count) {
  add(&self->wake_word, 1);
  if (count > 0) futex_wake(&self->wake_word, (int)count);
}

void softmetal_workers_attend(workers *self) {
  if (get(&self->attentive) == 0 && get(&self->sleepers) > 0) wake_sleepers(self, 1);
}

/* The woken wake the others: a thread that wakes 60 itself is late for its own work. */
enum { WAKE_FANOUT = 2 };

void softmetal_workers_wake(workers *self, uint32_t count) {
  uint32_t spinning = get(&self->spinning), sleepers = get(&self->sleepers);
  if (count > self->threads - 1) count = self->threads - 1;
  count = count > spinning ? count - spinning : 0;
  if (count > sleepers) count = sleepers;
  if (count == 0) return;
  uint32_t now = count < WAKE_FANOUT ? count : WAKE_FANOUT;
  __atomic_store_n(&self->to_wake, count - now, __ATOMIC_SEQ_CST);
  wake_sleepers(self, now);
}

static void pass_wake_on(workers *self) {
  uint32_t left = get(&self->to_wake);
  while (left > 0) {
    uint32_t mine = left < WAKE_FANOUT ? left : WAKE_FANOUT;
    if (__atomic_compare_exchange_n(&self->to_wake, &left, left - mine, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      wake_sleepers(self, mine);
      return;
    }
  }
}

typedef struct outlook {
  work_queue *claimed;
  bool more; /* claimable ones */
  uint64_t commits;
} outlook;

static outlook look(workers *self, bool claim) {
  outlook seen = {NULL, false, 0};
  lock_take(&self->lock);
  for (work_queue *queue = self->queues; queue != NULL; queue = queue->next) {
    seen.commits += __atomic_load_n(&queue->commits, __ATOMIC_RELAXED);
    if (!queue_claimable(queue)) continue;
    if (claim && seen.claimed == NULL && softmetal_queue_claim(queue)) seen.claimed = queue;
    else seen.more = true;
  }
  lock_drop(&self->lock);
  return seen;
}

/* Queues first: several of them then run side by side. */
static bool work(workers *self) {
  outlook seen = look(self, true);
  if (seen.more) softmetal_workers_attend(self);
  if (seen.claimed != NULL) {
    softmetal_queue_run(seen.claimed, NULL);
    return true;
  }
  return softmetal_jobs_help(self, NULL);
}

static bool something_to_do(workers *self, outlook seen) {
  return seen.more || softmetal_jobs_open(&self->board) || get(&self->stop) != 0;
}

static void spin(workers *self) {
  uint64_t until = clock_nanoseconds() + SPIN_NANOSECONDS;
  add(&self->attentive, 1);
  add(&self->spinning, 1);
  bool open = false;
  do {
    for (int i = 0; i < 16 && !(open = softmetal_jobs_open(&self->board)); i++) cpu_pause();
  } while (!open && clock_nanoseconds() < until && get(&self->stop) == 0);
  add(&self->spinning, -1u);
  add(&self->attentive, -1u);
}

/* True when there is something to do, false when there was nothing for long. */
static bool poll(workers *self) {
  bool found = false;
  uint64_t active = clock_nanoseconds(), commits = 0, pause = FIRST_POLL_NANOSECONDS;
  add(&self->attentive, 1);
  add(&self->sleepers, 1);
  while (clock_nanoseconds() - active < IDLE_NANOSECONDS) {
    uint32_t word = get(&self->wake_word);
    outlook seen = look(self, false);
    if ((found = something_to_do(self, seen))) break;
    if (seen.commits != commits) active = clock_nanoseconds();
    commits = seen.commits;
    futex_wait(&self->wake_word, word, pause);
    if (pause < LAST_POLL_NANOSECONDS) pause *= 2;
  }
  add(&self->sleepers, -1u);
  add(&self->attentive, -1u);
  return found;
}

static void sleep_until_woken(workers *self) {
  add(&self->sleepers, 1);
  uint32_t word = get(&self->wake_word);
  if (!something_to_do(self, look(self, false))) futex_wait(&self->wake_word, word, 0);
  add(&self->sleepers, -1u);
  pass_wake_on(self);
}

static void rest(workers *self) {
  uint32_t nobody = 0;
  if (__atomic_compare_exchange_n(&self->poller, &nobody, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    bool found = poll(self);
    __atomic_store_n(&self->poller, 0, __ATOMIC_SEQ_CST);
    pass_wake_on(self);
    if (found) return;
  }
  sleep_until_woken(self);
}

/* Spins after a rest too, even where the work it was woken for is done: such a worker would come late to
 * every one of a row of short calls. */
static void *worker(void *argument) {
  workers *self = argument;
  softmetal_thread_state *state = softmetal_thread_try();
  if (state == NULL) add(&self->failed, 1);
  prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
  uint32_t number = __atomic_fetch_add(&self->ready, 1, __ATOMIC_SEQ_CST);
  if (state != NULL) {
    state->workers = self;
    state->worker = number;
  }
  futex_wake(&self->ready, 1);
  while (state != NULL && get(&self->stop) == 0) {
    while (work(self)) {
    }
    spin(self);
    if (!work(self)) rest(self);
  }
  softmetal_workers_release(self);
  return NULL;
}

/* Signals are for the program's own threads. */
static uint32_t start_threads(workers *self, uint32_t threads) {
  pthread_attr_t attributes;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  uint32_t started = 0;
  while (started < threads) {
    softmetal_workers_retain(self);
    if (pthread_create(&self->ids[started], &attributes, worker, self) != 0) {
      softmetal_workers_release(self);
      break;
    }
    started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  for (uint32_t ready; (ready = get(&self->ready)) < started;) futex_wait(&self->ready, ready, 0);
  return started;
}

static void stop_threads(workers *self, uint32_t started) {
  bool own = thread_state()->workers == self;
  __atomic_store_n(&self->stop, 1, __ATOMIC_SEQ_CST);
  wake_sleepers(self, INT_MAX);
  for (uint32_t i = 0; i < started; i++) {
    if (own) pthread_detach(self->ids[i]);
    else pthread_join(self->ids[i], NULL);
  }
}

workers *softmetal_workers_create(const softmetal_family *family, uint32_t threads) {
  workers *self = aligned_alloc(64, sizeof *self);
  if (self == NULL) return NULL;
  *self = (workers){.family = family, .threads = threads, .references = 1};
  self->ids = calloc(threads, sizeof *self->ids);
  uint32_t started = self->ids != NULL ? start_threads(self, threads) : 0;
  if (started == threads && get(&self->failed) == 0) return self;
  stop_threads(self, started);
  softmetal_workers_release(self);
  return NULL;
}

void softmetal_workers_destroy(workers *self) {
  if (softmetal_forked) return; /* the threads are the parent's */
  stop_threads(self, self->threads);
  softmetal_workers_release(self);
}
