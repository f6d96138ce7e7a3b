#include "memory_map.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

bool memory_map_init(memory_map *map) {
  return pthread_rwlock_init(&map->lock, NULL) == 0;
}

void memory_map_end(memory_map *map) {
  free(map->ranges);
  pthread_rwlock_destroy(&map->lock);
}

/* How many ranges start at or before `address`. */
static size_t ranges_through(const memory_map *map, uintptr_t address) {
  size_t first = 0, count = map->count;
  while (count > 0) {
    size_t half = count / 2;
    bool before = map->ranges[first + half].start <= address;
    first = before ? first + half + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

static void update_reach(memory_map *map, size_t from) {
  uintptr_t reach = from > 0 ? map->ranges[from - 1].reach : 0;
  for (size_t i = from; i < map->count; i++) {
    if (map->ranges[i].end > reach) reach = map->ranges[i].end;
    map->ranges[i].reach = reach;
  }
}

bool memory_map_add(memory_map *map, struct pagedrt_buffer *buffer) {
  pthread_rwlock_wrlock(&map->lock);
  if (map->count == map->capacity) {
    size_t capacity = map->capacity > 0 ? 2 * map->capacity : 16;
    memory_range *ranges = realloc(map->ranges, capacity * sizeof *ranges);
    if (ranges == NULL) {
      pthread_rwlock_unlock(&map->lock);
      return false;
    }
    map->ranges = ranges;
    map->capacity = capacity;
  }
  uintptr_t start = (uintptr_t)buffer->pointer;
  size_t at = ranges_through(map, start);
  memmove(&map->ranges[at + 1], &map->ranges[at], (map->count - at) * sizeof map->ranges[0]);
  map->ranges[at] = (memory_range){start, start + buffer->length, 0, buffer};
  map->count++;
  update_reach(map, at);
  pthread_rwlock_unlock(&map->lock);
  return true;
}

void memory_map_remove(memory_map *map, struct pagedrt_buffer *buffer) {
  pthread_rwlock_wrlock(&map->lock);
  size_t at = ranges_through(map, (uintptr_t)buffer->pointer);
  while (at > 0 && map->ranges[at - 1].buffer != buffer) at--;
  if (at > 0) {
    memmove(&map->ranges[at - 1], &map->ranges[at], (map->count - at) * sizeof map->ranges[0]);
    map->count--;
    update_reach(map, at - 1);
  }
  pthread_rwlock_unlock(&map->lock);
}

struct pagedrt_buffer *memory_map_find(const memory_map *map, const void *pointer, size_t length, bool writable) {
  uintptr_t start = (uintptr_t)pointer, end = start + length;
  for (size_t i = ranges_through(map, start); i > 0; i--) {
    const memory_range *range = &map->ranges[i - 1];
    if (range->reach < end) return NULL;
    if (range->end >= end && (range->buffer->writable || !writable)) return range->buffer;
  }
  return NULL;
}
