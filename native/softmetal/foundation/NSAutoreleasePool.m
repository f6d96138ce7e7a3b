#import <Foundation/Foundation.h>
#include <stdio.h>
#include <stdlib.h>

#include "foundation/autorelease.h"

enum { PAGE_OBJECTS = 508 };

typedef struct autorelease_page {
  struct autorelease_page *below, *above;
  size_t count;
  id objects[PAGE_OBJECTS];
} autorelease_page;

static void push(softmetal_thread_state *state, id object) {
  autorelease_page *page = state->page;
  if (page == NULL || page->count == PAGE_OBJECTS) {
    autorelease_page *above = page != NULL ? page->above : NULL;
    if (above == NULL) {
      above = calloc(1, sizeof *above);
      if (above == NULL) {
        fputs("softmetal: out of memory for an autorelease pool\n", stderr);
        abort();
      }
      above->below = page;
      if (page != NULL) page->above = above;
    }
    state->page = page = above;
  }
  page->objects[page->count++] = object;
  state->autoreleased++;
}

void softmetal_autorelease(void *object) {
  push(thread_state(), object);
}

static void pop_to(softmetal_thread_state *state, size_t depth) {
  while (state->autoreleased > depth) {
    autorelease_page *page = state->page;
    if (page->count == 0) {
      state->page = page->below;
      continue;
    }
    state->autoreleased--;
    [page->objects[--page->count] release];
  }
}

void softmetal_autorelease_end(softmetal_thread_state *state) {
  pop_to(state, 0);
  autorelease_page *page = state->page;
  while (page != NULL && page->below != NULL) page = page->below;
  while (page != NULL) {
    autorelease_page *above = page->above;
    free(page);
    page = above;
  }
  state->page = NULL;
}

@implementation NSAutoreleasePool

+ (void)addObject:(id)anObject {
  softmetal_autorelease(anObject);
}

- (id)init {
  depth = thread_state()->autoreleased;
  return self;
}

- (void)drain {
  [self release];
}

- (void)dealloc {
  pop_to(thread_state(), depth);
  [super dealloc];
}

@end
