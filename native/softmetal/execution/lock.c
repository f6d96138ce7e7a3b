#include "execution/lock.h"

#include "execution/clock.h"
#include "execution/futex.h"

enum { LOCK_SPINS = 100 };

void softmetal_lock_wait(softmetal_lock *lock) {
  for (int i = 0; i < LOCK_SPINS; i++) {
    uint32_t free = 0;
    if (__atomic_load_n(&lock->state, __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(&lock->state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      return;
    }
    cpu_pause();
  }
  while (__atomic_exchange_n(&lock->state, 2, __ATOMIC_ACQUIRE) != 0) futex_wait(&lock->state, 2, 0);
}

void softmetal_lock_wake(softmetal_lock *lock) {
  futex_wake(&lock->state, 1);
}
