/* A child of fork() has no workers: what it does with inherited objects fails at once or is a release. */
#ifndef SOFTMETAL_FORK_H
#define SOFTMETAL_FORK_H

#include <stdbool.h>

/* Written by a child's only thread before any other can read it. */
extern bool softmetal_forked;

/* From the first device on, a child is `forked`. */
void softmetal_fork_watch(void);
/* Locks that a child's releases need are held across fork(), so that none is left locked by a thread
 * that the child lacks. */
void softmetal_fork_hold(void (*before)(void), void (*after)(void));

#endif
