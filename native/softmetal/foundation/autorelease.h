/* A thread's autoreleased objects: a stack in pages that are kept. */
#ifndef SOFTMETAL_AUTORELEASE_H
#define SOFTMETAL_AUTORELEASE_H

#include "execution/thread.h"

/* `object` is an id: this header is C's too. */
void softmetal_autorelease(void *object);

/* Releases what is left and frees the pages. */
void softmetal_autorelease_end(softmetal_thread_state *state);

#endif
