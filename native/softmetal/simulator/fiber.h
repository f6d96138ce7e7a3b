/* One thread of a threadgroup as a coroutine: a stack and a saved stack pointer. */
#ifndef SOFTMETAL_SIMULATOR_FIBER_H
#define SOFTMETAL_SIMULATOR_FIBER_H

#include <stddef.h>

typedef struct fiber {
  void *stack_pointer;
  char *stack; /* lowest address; FIBER_STACK bytes above a guard page */
} fiber;

enum { FIBER_STACK = 256 * 1024 };

/* Stacks for `count` fibers, side by side, each with a guard page below; NULL when out of memory. */
char *fiber_stacks_create(size_t count);
void fiber_stacks_destroy(char *stacks, size_t count);
/* The next switch to `f` calls entry(argument), which must never return. */
void fiber_prepare(fiber *f, char *stacks, size_t index, void (*entry)(void *), void *argument);
/* Saves the running context in `from` and continues `to`. */
void fiber_switch(fiber *from, fiber *to);

#endif
