#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiber.h"

typedef enum thread_state { THREAD_READY, THREAD_IN_SIMDGROUP_CALL, THREAD_AT_BARRIER, THREAD_DONE } thread_state;

typedef struct simulated_thread {
  fiber context;
  thread_state state;
  uint64_t waiting_for; /* the SIMD-group operation or barrier flags it stands at */
  softmetal_thread arguments;
} simulated_thread;

/* Values of a SIMD-group's calls; two sets, since a lane may enter its next call while others still
 * read those of the last. */
typedef struct simdgroup_exchange {
  uint64_t values[2][SIMULATOR_WIDTH];
  int parity;
} simdgroup_exchange;

typedef struct engine {
  const simulator_dispatch *dispatch;
  memory memory;
  fiber scheduler;
  simulated_thread threads[SIMULATOR_MAX_THREADS];
  simdgroup_exchange exchanges[SIMULATOR_MAX_THREADS / SIMULATOR_WIDTH];
  uint32_t group_index; /* threadgroup in the grid */
  simulated_thread *running;
  uint64_t random;
  bool broken;
  char *message;
  size_t message_size;
  char threadgroup_memory[32768] __attribute__((aligned(64)));
} engine;

static __thread engine *current;

static uint32_t thread_index(const engine *e, const simulated_thread *t) {
  return (uint32_t)(t - e->threads);
}

/* xorshift64*: all that a schedule needs. */
static uint64_t next_random(engine *e) {
  e->random ^= e->random >> 12;
  e->random ^= e->random << 25;
  e->random ^= e->random >> 27;
  return e->random * 2685821657736338717ull;
}

static void leave(engine *e, thread_state state) {
  simulated_thread *self = e->running;
  self->state = state;
  fiber_switch(&self->context, &e->scheduler);
}

/* The first broken rule ends the dispatch; its thread is never continued. */
static void trap(engine *e, const char *what) {
  const simulated_thread *t = e->running;
  const uint32_t *p = t->arguments.threadgroup_position;
  snprintf(e->message, e->message_size, "kernel %s: threadgroup (%u, %u, %u), thread %u: %s", e->dispatch->kernel->name,
           p[0], p[1], p[2], thread_index(e, t), what);
  e->broken = true;
  leave(e, THREAD_DONE);
}

void engine_access(const void *address, size_t length, memory_access access) {
  engine *e = current;
  if (e == NULL || e->running == NULL) {
    return; /* outside a dispatch: static initialisers */
  }
  const uintptr_t at = (uintptr_t)address;
  const uintptr_t stack = (uintptr_t)e->running->context.stack;
  if (at >= stack && at < stack + FIBER_STACK) {
    return;
  }
  char text[256];
  const uint32_t thread = e->group_index * e->dispatch->threads + thread_index(e, e->running);
  const char *wrong = memory_check(&e->memory, at, length, access, thread, text, sizeof(text));
  if (wrong != NULL) {
    trap(e, wrong);
  }
  if (e->dispatch->seed != 0 && next_random(e) % 64 == 0) {
    leave(e, THREAD_READY);
  }
}

void softmetal_simulator_barrier(int flags) {
  current->running->waiting_for = (uint64_t)flags;
  leave(current, THREAD_AT_BARRIER);
}

uint32_t softmetal_simulator_lane(void) {
  return current->running->arguments.lane;
}

const uint64_t *softmetal_simulator_exchange(uint64_t value, uint64_t operation) {
  engine *e = current;
  simulated_thread *self = e->running;
  simdgroup_exchange *x = &e->exchanges[self->arguments.simdgroup];
  const int parity = x->parity;
  x->values[parity][self->arguments.lane] = value;
  self->waiting_for = operation;
  leave(e, THREAD_IN_SIMDGROUP_CALL);
  return x->values[parity];
}

static void run_thread(void *argument) {
  simulated_thread *self = argument;
  current->dispatch->kernel->entry(&self->arguments);
  leave(current, THREAD_DONE);
  abort(); /* a finished thread is never continued */
}

/* True when all `count` threads from `first` stand in `state` for the same reason. */
static bool all_at(const engine *e, uint32_t first, uint32_t count, thread_state state) {
  for (uint32_t i = first; i < first + count; ++i) {
    if (e->threads[i].state != state || e->threads[i].waiting_for != e->threads[first].waiting_for) {
      return false;
    }
  }
  return true;
}

static void release(engine *e, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) {
    e->threads[i].state = THREAD_READY;
  }
}

static void describe(const simulated_thread *t, char *text, size_t size) {
  switch (t->state) {
  case THREAD_DONE:
    snprintf(text, size, "ended");
    break;
  case THREAD_AT_BARRIER:
    snprintf(text, size, "at threadgroup_barrier(%llu)", (unsigned long long)t->waiting_for);
    break;
  default:
    snprintf(text, size, "in a SIMD-group function (operation %llu)", (unsigned long long)t->waiting_for);
  }
}

/* Nobody can go on: two threads do not stand at the same place. */
static void report_divergence(engine *e) {
  const uint32_t threads = e->dispatch->threads;
  for (uint32_t i = 0; i < threads; ++i) {
    const simulated_thread *a = &e->threads[i];
    /* of a barrier all threads are part, of a SIMD-group function its own SIMD-group */
    const bool barrier = a->state == THREAD_AT_BARRIER;
    const uint32_t first = barrier ? 0 : i / SIMULATOR_WIDTH * SIMULATOR_WIDTH;
    const uint32_t last = barrier ? threads : first + SIMULATOR_WIDTH;
    for (uint32_t j = first; a->state != THREAD_DONE && j < last; ++j) {
      const simulated_thread *b = &e->threads[j];
      if (b->state != a->state || b->waiting_for != a->waiting_for) {
        char mine[64], theirs[64];
        describe(a, mine, sizeof(mine));
        describe(b, theirs, sizeof(theirs));
        const uint32_t *p = a->arguments.threadgroup_position;
        snprintf(e->message, e->message_size, "kernel %s: threadgroup (%u, %u, %u), thread %u: divergent %s: it is %s while thread %u has %s%s",
                 e->dispatch->kernel->name, p[0], p[1], p[2], i, barrier ? "barrier" : "SIMD-group function", mine, j,
                 b->state == THREAD_DONE ? "" : "come to stand ", theirs);
        e->broken = true;
        return;
      }
    }
  }
}

static void run_ready(engine *e, uint32_t first, uint32_t *progress) {
  uint32_t order[SIMULATOR_WIDTH];
  for (uint32_t i = 0; i < SIMULATOR_WIDTH; ++i) {
    const uint32_t j = e->dispatch->seed == 0 ? i : (uint32_t)(next_random(e) % (i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  for (uint32_t i = 0; i < SIMULATOR_WIDTH && !e->broken; ++i) {
    simulated_thread *t = &e->threads[first + order[i]];
    if (t->state == THREAD_READY) {
      *progress += 1;
      e->running = t;
      fiber_switch(&e->scheduler, &t->context);
      e->running = NULL;
    }
  }
}

static void run_simdgroup(engine *e, uint32_t simdgroup, uint32_t *progress) {
  const uint32_t first = simdgroup * SIMULATOR_WIDTH;
  uint32_t ran;
  do {
    ran = 0;
    run_ready(e, first, &ran);
    *progress += ran;
    if (!e->broken && all_at(e, first, SIMULATOR_WIDTH, THREAD_IN_SIMDGROUP_CALL)) {
      e->exchanges[simdgroup].parity ^= 1;
      release(e, first, SIMULATOR_WIDTH);
      ran = 1;
    }
    /* with a seed another SIMD-group may come first */
  } while (ran != 0 && !e->broken && (e->dispatch->seed == 0 || next_random(e) % 8 != 0));
}

static void run_threadgroup(engine *e, char *stacks, const uint32_t position[3]) {
  const simulator_dispatch *d = e->dispatch;
  const uint32_t simdgroups = d->threads / SIMULATOR_WIDTH;
  memory_begin_threadgroup(&e->memory);
  memset(e->threadgroup_memory, 0xFF, d->threadgroup_length); /* NaN: never initialised on a GPU either */
  for (uint32_t i = 0; i < d->threads; ++i) {
    simulated_thread *t = &e->threads[i];
    t->state = THREAD_READY;
    t->arguments = (softmetal_thread){d->buffers, d->constants, e->threadgroup_memory, {position[0], position[1], position[2]},
                                      i % SIMULATOR_WIDTH, i / SIMULATOR_WIDTH, simdgroups};
    fiber_prepare(&t->context, stacks, i, run_thread, t);
  }
  for (;;) {
    uint32_t progress = 0;
    const uint32_t turn = d->seed == 0 ? 0 : (uint32_t)(next_random(e) % simdgroups);
    for (uint32_t s = 0; s < simdgroups && !e->broken; ++s) {
      run_simdgroup(e, (s + turn) % simdgroups, &progress);
    }
    if (e->broken || all_at(e, 0, d->threads, THREAD_DONE)) {
      return;
    }
    if (all_at(e, 0, d->threads, THREAD_AT_BARRIER)) {
      memory_barrier(&e->memory, (int)e->threads[0].waiting_for);
      release(e, 0, d->threads);
    } else if (progress == 0) {
      report_divergence(e);
      return;
    }
  }
}

bool softmetal_simulator_run(const simulator_dispatch *dispatch, char *message, size_t message_size) {
  engine *e = calloc(1, sizeof(*e));
  char *stacks = fiber_stacks_create(dispatch->threads);
  bool fits = e != NULL && stacks != NULL;
  if (!fits) {
    snprintf(message, message_size, "kernel %s: no memory for %u simulated threads", dispatch->kernel->name, dispatch->threads);
  }
  if (fits) {
    e->dispatch = dispatch;
    e->message = message;
    e->message_size = message_size;
    e->random = dispatch->seed;
    fits = memory_begin(&e->memory, dispatch, e->threadgroup_memory, message, message_size);
  }
  bool legal = fits;
  if (fits) {
    engine *outer = current;
    current = e;
    const uint32_t *n = dispatch->threadgroups;
    const uint64_t count = (uint64_t)n[0] * n[1] * n[2];
    /* a seed starts somewhere else, and may walk backwards */
    const uint64_t start = dispatch->seed == 0 ? 0 : next_random(e) % count;
    const bool backwards = dispatch->seed != 0 && next_random(e) % 2 == 0;
    for (uint64_t i = 0; i < count && !e->broken; ++i) {
      const uint64_t at = ((backwards ? count - i : i) + start) % count;
      const uint32_t position[3] = {(uint32_t)(at % n[0]), (uint32_t)(at / n[0] % n[1]), (uint32_t)(at / n[0] / n[1])};
      e->group_index = (uint32_t)at;
      run_threadgroup(e, stacks, position);
    }
    legal = !e->broken;
    memory_end(&e->memory);
    current = outer;
  }
  fiber_stacks_destroy(stacks, dispatch->threads);
  free(e);
  return legal;
}
