/* Dispatches whose threadgroups several threads share. The thread that runs the dispatch opens a job;
 * helpers take chunks of its threadgroups until none is left. */
#ifndef SOFTMETAL_JOBS_H
#define SOFTMETAL_JOBS_H

#include "execution/family.h"

enum { JOBS = 16, MOST_RANGES = 16 };

/* Chunks that one thread is to take before others do: in a row of like dispatches it then finds in its
 * cache what it read last time. Low half: the next from the front; high half: the end. */
typedef struct chunk_range {
  uint64_t word;
} __attribute__((aligned(64))) chunk_range;

/* Never freed while a thread may look at it. A helper counts itself in before it takes a chunk, and
 * the job changes only when no chunk remains and no helper is counted in. */
typedef struct job {
  chunk_range ranges[MOST_RANGES]; /* the first is the opener's; chunks in any of them open the job */
  uint32_t ranges_used;
  uint32_t helpers; /* futex */
  uint32_t limit;
  uint32_t opener_waits;
  uint32_t failed;
  const softmetal_dispatch *dispatch;
  uint64_t first, threadgroups, chunk;
  char message[FAMILY_MESSAGE];
} __attribute__((aligned(64))) job;

typedef struct job_board {
  uint64_t used; /* bit n: jobs[n] has an opener */
  job jobs[JOBS];
} __attribute__((aligned(64))) job_board;

struct submission;
struct workers;

/* Runs the dispatch whole. False with a message where the family refused. */
bool softmetal_jobs_run(struct workers *workers, const softmetal_dispatch *dispatch, char message[FAMILY_MESSAGE]);
/* Whether a job would take one more helper. */
bool softmetal_jobs_open(const job_board *board);
/* Takes part in open jobs until none is left, or `until`, if that is not NULL, has completed; false when
 * there was none. */
bool softmetal_jobs_help(struct workers *workers, const struct submission *until);

#endif
