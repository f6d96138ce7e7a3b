/* Which live buffer holds an address: a table of ranges sorted by their start. */
#ifndef PAGEDRT_MEMORY_MAP_H
#define PAGEDRT_MEMORY_MAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pagedrt_buffer;

typedef struct memory_range {
  uintptr_t start, end;
  uintptr_t reach; /* the largest end up to here: where a search among overlapping ranges may stop */
  struct pagedrt_buffer *buffer;
} memory_range;

typedef struct memory_map {
  pthread_rwlock_t lock;
  memory_range *ranges;
  size_t count, capacity;
} memory_map;

bool memory_map_init(memory_map *map);
void memory_map_end(memory_map *map);
/* False when memory runs out. */
bool memory_map_add(memory_map *map, struct pagedrt_buffer *buffer);
void memory_map_remove(memory_map *map, struct pagedrt_buffer *buffer);

/* find is called between these two; what it returned stays alive until the second. */
static inline void memory_map_read(memory_map *map) {
  pthread_rwlock_rdlock(&map->lock);
}
static inline void memory_map_done(memory_map *map) {
  pthread_rwlock_unlock(&map->lock);
}
/* A live buffer (a writable one, if so asked) that holds [pointer, pointer + length), or NULL. */
struct pagedrt_buffer *memory_map_find(const memory_map *map, const void *pointer, size_t length, bool writable);

#endif
