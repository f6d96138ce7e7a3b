#include "execution/jobs.h"

#include <string.h>

#include "execution/clock.h"
#include "execution/futex.h"
#include "execution/thread.h"
#include "execution/workers.h"

/* A dispatch expected to take less is run by one thread; one that takes longer wakes sleeping workers. */
static const double SHARE_PICOSECONDS = 3e6, WAKE_PICOSECONDS = 15e6;
/* Chunks a thread takes of a dispatch: small enough to end together. */
enum { CHUNKS_PER_THREAD = 16, SPIN_NANOSECONDS = 30000 };

typedef struct progress {
  uint64_t started, threadgroups; /* run by this thread since */
} progress;

static double picoseconds_each(const progress *progress, uint64_t now) {
  return progress->threadgroups > 0 ? (double)(now - progress->started) * 1000 / (double)progress->threadgroups : 0;
}

static double expected(const softmetal_dispatch *dispatch) {
  return (double)__atomic_load_n(dispatch->group_picoseconds, __ATOMIC_RELAXED);
}

static void learn(const softmetal_dispatch *dispatch, double each) {
  if (each > 0) __atomic_store_n(dispatch->group_picoseconds, (uint64_t)each + 1, __ATOMIC_RELAXED);
}

static uint32_t ranges_of(const job *job) {
  return __atomic_load_n(&job->ranges_used, __ATOMIC_RELAXED);
}

static uint64_t chunks_in(const chunk_range *range) {
  uint64_t word = __atomic_load_n(&range->word, __ATOMIC_SEQ_CST);
  return (word >> 32) - (uint32_t)word;
}

static bool claim_from(chunk_range *range, bool front, uint64_t *chunk) {
  uint64_t word = __atomic_load_n(&range->word, __ATOMIC_SEQ_CST);
  while ((uint32_t)word != word >> 32) {
    uint64_t less = front ? word + 1 : word - (1ull << 32);
    if (__atomic_compare_exchange_n(&range->word, &word, less, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      *chunk = front ? (uint32_t)word : less >> 32;
      return true;
    }
  }
  return false;
}

/* The thread's own range first, from its front; then others' from their ends. */
static bool claim_chunk(job *job, uint32_t own, uint64_t *chunk) {
  uint32_t ranges = ranges_of(job);
  for (uint32_t i = 0; i < ranges; i++) {
    if (claim_from(&job->ranges[(own + i) % ranges], i == 0, chunk)) return true;
  }
  return false;
}

static uint64_t chunks_left(const job *job) {
  uint64_t left = 0;
  for (uint32_t i = 0, ranges = ranges_of(job); i < ranges; i++) left += chunks_in(&job->ranges[i]);
  return left;
}

/* The threadgroups run. The first failure stops the job. */
static uint64_t run_chunk(const softmetal_family *family, job *job, uint64_t chunk, void *memory) {
  uint64_t first = chunk * job->chunk, count = job->threadgroups - first;
  if (count > job->chunk) count = job->chunk;
  char message[FAMILY_MESSAGE];
  if (!family->run(job->dispatch, job->first + first, count, memory, message)) {
    if (__atomic_exchange_n(&job->failed, 1, __ATOMIC_SEQ_CST) == 0) memcpy(job->message, message, FAMILY_MESSAGE);
    for (uint32_t i = 0, ranges = ranges_of(job); i < ranges; i++) __atomic_store_n(&job->ranges[i].word, 0, __ATOMIC_SEQ_CST);
  }
  return count;
}

static job *open_job(job_board *board) {
  uint64_t used = __atomic_load_n(&board->used, __ATOMIC_RELAXED);
  for (;;) {
    unsigned index = (unsigned)__builtin_ctzll(~used);
    if (index >= JOBS) return NULL;
    if (__atomic_compare_exchange_n(&board->used, &used, used | 1ull << index, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      return &board->jobs[index];
    }
  }
}

static void close_job(job_board *board, job *job) {
  __atomic_fetch_and(&board->used, ~(1ull << (job - board->jobs)), __ATOMIC_SEQ_CST);
}

static void await_helpers(job *job) {
  uint64_t until = 0;
  for (unsigned i = 1; __atomic_load_n(&job->helpers, __ATOMIC_SEQ_CST) != 0; i++) {
    cpu_pause();
    if (i % 64 != 0) continue;
    uint64_t now = clock_nanoseconds();
    if (until == 0) until = now + SPIN_NANOSECONDS;
    if (now < until) continue;
    __atomic_store_n(&job->opener_waits, 1, __ATOMIC_SEQ_CST);
    uint32_t helpers = __atomic_load_n(&job->helpers, __ATOMIC_SEQ_CST);
    if (helpers != 0) futex_wait(&job->helpers, helpers, 0);
  }
  __atomic_store_n(&job->opener_waits, 0, __ATOMIC_RELAXED);
}

static void publish(job *job, const softmetal_dispatch *dispatch, uint64_t first, uint32_t threads) {
  uint64_t threadgroups = dispatch->threadgroups - first;
  uint64_t chunk = threadgroups / ((uint64_t)threads * CHUNKS_PER_THREAD);
  if (chunk == 0) chunk = 1;
  job->dispatch = dispatch;
  job->first = first;
  job->threadgroups = threadgroups;
  job->chunk = chunk;
  uint64_t chunks = (threadgroups + chunk - 1) / chunk;
  uint32_t ranges = threads < MOST_RANGES ? threads : MOST_RANGES;
  __atomic_store_n(&job->ranges_used, ranges, __ATOMIC_RELAXED);
  __atomic_store_n(&job->limit, threads - 1, __ATOMIC_RELAXED);
  __atomic_store_n(&job->failed, 0, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < ranges; i++) {
    uint64_t word = chunks * i / ranges | (chunks * (i + 1) / ranges) << 32;
    __atomic_store_n(&job->ranges[i].word, word, __ATOMIC_SEQ_CST);
  }
}

/* Workers that `left` threadgroups are worth. */
static uint32_t worth(double each, uint64_t left) {
  double workers = each * (double)left / WAKE_PICOSECONDS;
  return workers > 1e6 ? 1000000 : (uint32_t)workers;
}

static bool run_shared(workers *workers, const softmetal_dispatch *dispatch, uint64_t first, progress progress, void *memory,
                       char message[FAMILY_MESSAGE]) {
  const softmetal_family *family = workers->family;
  job *job = open_job(&workers->board);
  if (job == NULL) return family->run(dispatch, first, dispatch->threadgroups - first, memory, message);
  publish(job, dispatch, first, workers->threads);
  uint32_t woken = worth(expected(dispatch), dispatch->threadgroups - first);
  if (woken > 0) softmetal_workers_wake(workers, woken);
  uint64_t chunk;
  while (claim_chunk(job, 0, &chunk)) {
    progress.threadgroups += run_chunk(family, job, chunk, memory);
    double each = picoseconds_each(&progress, clock_nanoseconds());
    learn(dispatch, each);
    if (woken > 0) continue;
    woken = worth(each, chunks_left(job) * job->chunk);
    if (woken > 0) softmetal_workers_wake(workers, woken);
  }
  await_helpers(job);
  bool failed = __atomic_load_n(&job->failed, __ATOMIC_SEQ_CST) != 0;
  if (failed) memcpy(message, job->message, FAMILY_MESSAGE);
  close_job(&workers->board, job);
  return !failed;
}

/* A dispatch too short to share, as far as is known: if it takes longer, the rest is shared. */
static bool run_alone(workers *workers, const softmetal_dispatch *dispatch, progress progress, void *memory,
                      char message[FAMILY_MESSAGE]) {
  uint64_t total = dispatch->threadgroups, batch = total < 8 ? 1 : total / 8;
  while (progress.threadgroups < total) {
    uint64_t count = total - progress.threadgroups;
    if (count > batch) count = batch;
    if (!workers->family->run(dispatch, progress.threadgroups, count, memory, message)) return false;
    progress.threadgroups += count;
    double each = picoseconds_each(&progress, clock_nanoseconds());
    learn(dispatch, each);
    if (each * (double)(total - progress.threadgroups) > SHARE_PICOSECONDS) {
      return run_shared(workers, dispatch, progress.threadgroups, progress, memory, message);
    }
  }
  return true;
}

bool softmetal_jobs_run(workers *workers, const softmetal_dispatch *dispatch, char message[FAMILY_MESSAGE]) {
  void *memory = thread_state()->threadgroup_memory;
  if (dispatch->threadgroups == 1 || workers->threads == 1 || workers->family->whole_dispatches) {
    return workers->family->run(dispatch, 0, dispatch->threadgroups, memory, message);
  }
  progress progress = {clock_nanoseconds(), 0};
  double each = expected(dispatch);
  if (each > 0 && each * (double)dispatch->threadgroups < SHARE_PICOSECONDS) {
    return run_alone(workers, dispatch, progress, memory, message);
  }
  return run_shared(workers, dispatch, 0, progress, memory, message);
}

static bool has_room(const job *job) {
  return __atomic_load_n(&job->helpers, __ATOMIC_RELAXED) < __atomic_load_n(&job->limit, __ATOMIC_RELAXED) && chunks_left(job) != 0;
}

bool softmetal_jobs_open(const job_board *board) {
  for (uint64_t used = __atomic_load_n(&board->used, __ATOMIC_SEQ_CST); used != 0; used &= used - 1) {
    if (has_room(&board->jobs[__builtin_ctzll(used)])) return true;
  }
  return false;
}

static bool reached(const submission *until) {
  return until != NULL && submission_status_of(until) >= SUBMISSION_COMPLETED;
}

static bool help(workers *workers, job *job, const submission *until) {
  softmetal_thread_state *thread = thread_state();
  bool helped = false;
  uint64_t chunk;
  if (__atomic_fetch_add(&job->helpers, 1, __ATOMIC_SEQ_CST) < __atomic_load_n(&job->limit, __ATOMIC_RELAXED)) {
    uint32_t ranges = ranges_of(job), own = ranges > 1 ? 1 + thread->worker % (ranges - 1) : 0;
    while (!reached(until) && claim_chunk(job, own, &chunk)) {
      run_chunk(workers->family, job, chunk, thread->threadgroup_memory);
      helped = true;
    }
  }
  bool last = __atomic_fetch_sub(&job->helpers, 1, __ATOMIC_SEQ_CST) == 1;
  if (last && __atomic_load_n(&job->opener_waits, __ATOMIC_SEQ_CST) != 0) futex_wake(&job->helpers, INT_MAX);
  return helped;
}

bool softmetal_jobs_help(workers *workers, const submission *until) {
  bool helped = false;
  for (uint64_t used = __atomic_load_n(&workers->board.used, __ATOMIC_SEQ_CST); used != 0; used &= used - 1) {
    job *job = &workers->board.jobs[__builtin_ctzll(used)];
    if (has_room(job)) helped |= help(workers, job, until);
  }
  return helped;
}
