#define _GNU_SOURCE
#include "metal/mappings.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "execution/lock.h"

enum { KEPT_PAGES = 16, KEPT_OF_EACH = 16 };
static const size_t HUGE_PAGE = 2u << 20, HUGE_FROM = 4u << 20;

/* Free pieces by size in pages; each of at most KEPT_PAGES. */
static softmetal_lock lock;
static void *kept[KEPT_PAGES + 1][KEPT_OF_EACH];
static uint32_t kept_count[KEPT_PAGES + 1];

/* Maps more than is wanted, to cut a start that huge pages can lie at. */
static char *map_aligned(size_t bytes) {
  char *start = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
  if (before > 0) munmap(start, before);
  munmap(start + before + bytes, HUGE_PAGE - before);
  madvise(start + before, bytes, MADV_HUGEPAGE);
  return start + before;
}

static char *map(size_t bytes) {
  if (bytes >= HUGE_FROM) return map_aligned(bytes);
  char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start != MAP_FAILED ? start : NULL;
}

/* 0 for what is not kept. */
static size_t pages_kept(size_t bytes) {
  size_t pages = bytes / (size_t)sysconf(_SC_PAGESIZE);
  return pages <= KEPT_PAGES ? pages : 0;
}

void *softmetal_mapping_take(size_t bytes) {
  size_t pages = pages_kept(bytes);
  void *pointer = NULL;
  if (pages > 0) {
    lock_take(&lock);
    if (kept_count[pages] > 0) pointer = kept[pages][--kept_count[pages]];
    lock_drop(&lock);
  }
  return pointer != NULL ? pointer : map(bytes);
}

void softmetal_mapping_give(void *pointer, size_t bytes) {
  size_t pages = pages_kept(bytes);
  if (pages > 0) {
    lock_take(&lock);
    if (kept_count[pages] < KEPT_OF_EACH) {
      kept[pages][kept_count[pages]++] = pointer;
      pointer = NULL;
    }
    lock_drop(&lock);
  }
  if (pointer != NULL) munmap(pointer, bytes);
}
