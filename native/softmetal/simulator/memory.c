#define _GNU_SOURCE
#include "memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static const char *const verbs[] = {"read", "write", "atomic access"};

static bool add(memory *m, int index, void *pointer, size_t length) {
  memory_range *r = &m->ranges[m->count];
  r->begin = (uintptr_t)pointer;
  r->end = r->begin + length;
  r->index = index;
  r->bound_twice = false;
  /* untouched words cost no memory: the pages come zeroed when first used */
  r->words_size = (r->end / WORD_BYTES - r->begin / WORD_BYTES + 1) * sizeof(word_state);
  r->words = mmap(NULL, r->words_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (r->words == MAP_FAILED) {
    return false;
  }
  m->count += 1;
  return true;
}

bool memory_begin(memory *m, const simulator_dispatch *dispatch, void *threadgroup_memory, char *message, size_t size) {
  m->count = 0;
  m->threadgroup = NULL;
  m->device_epoch = m->device_group_epoch = m->threadgroup_epoch = 0;
  bool fits = true;
  for (int i = 0; fits && i < SOFTMETAL_BUFFERS; ++i) {
    if (dispatch->buffers[i] != NULL) {
      fits = add(m, i, dispatch->buffers[i], dispatch->lengths[i]);
    }
  }
  for (int i = 0; i < m->count; ++i) {
    for (int j = 0; j < m->count; ++j) {
      if (i != j && m->ranges[i].begin == m->ranges[j].begin) {
        m->ranges[i].bound_twice = true;
      }
    }
  }
  if (fits && dispatch->threadgroup_length > 0) {
    fits = add(m, -1, threadgroup_memory, dispatch->threadgroup_length);
    m->threadgroup = &m->ranges[m->count - 1];
  }
  if (!fits) {
    memory_end(m);
    snprintf(message, size, "kernel %s: no memory for the simulator's own records", dispatch->kernel->name);
  }
  return fits;
}

void memory_begin_threadgroup(memory *m) {
  m->device_group_epoch = ++m->device_epoch;
  m->threadgroup_epoch += 1;
  if (m->threadgroup != NULL) {
    memset(m->threadgroup->words, 0, m->threadgroup->words_size);
  }
}

void memory_barrier(memory *m, int flags) {
  m->device_epoch += (flags & SIMULATOR_MEM_DEVICE) != 0;
  m->threadgroup_epoch += (flags & SIMULATOR_MEM_THREADGROUP) != 0;
}

void memory_end(memory *m) {
  for (int i = 0; i < m->count; ++i) {
    munmap(m->ranges[i].words, m->ranges[i].words_size);
  }
  m->count = 0;
}

/* Of slices of one buffer, each of which reaches to the buffer's end, the one that starts last. */
static memory_range *find(memory *m, uintptr_t address) {
  memory_range *found = NULL;
  for (int i = 0; i < m->count; ++i) {
    memory_range *r = &m->ranges[i];
    if (address >= r->begin && address < r->end && (found == NULL || r->begin > found->begin)) {
      found = r;
    }
  }
  return found;
}

static void name_of(const memory_range *r, char *text, size_t size) {
  if (r->index < 0) {
    snprintf(text, size, "threadgroup memory");
  } else {
    snprintf(text, size, "buffer %d", r->index);
  }
}

static const char *out_of_bounds(memory *m, uintptr_t address, size_t length, memory_access access, char *text, size_t size) {
  const memory_range *nearest = NULL;
  uintptr_t distance = UINTPTR_MAX;
  for (int i = 0; i < m->count; ++i) {
    const memory_range *r = &m->ranges[i];
    const uintptr_t d = address < r->begin ? r->begin - address : address - r->end;
    if (address >= r->begin && address < r->end) {
      nearest = r; /* starts inside, ends outside */
      break;
    }
    if (d < distance) {
      distance = d;
      nearest = r;
    }
  }
  if (nearest == NULL) {
    snprintf(text, size, "out-of-bounds %s of %zu bytes: no buffer is bound", verbs[access], length);
    return text;
  }
  char name[32];
  name_of(nearest, name, sizeof(name));
  snprintf(text, size, "out-of-bounds %s of %zu bytes at offset %lld of %s, which has %zu bytes", verbs[access], length,
           (long long)(address - nearest->begin), name, (size_t)(nearest->end - nearest->begin));
  return text;
}

/* Does an access in `epoch` by `owner` stand unordered before one by `self` now? */
static bool unordered(uint32_t owner, uint32_t epoch, uint32_t self, uint32_t now, uint32_t group) {
  return owner != 0 && owner != self && (epoch == now || epoch < group);
}

static bool races(word_state *w, memory_access access, uint32_t self, uint32_t now, uint32_t group) {
  const uint32_t actor = access == ACCESS_ATOMIC ? WORD_ATOMIC : self;
  const uint32_t read_epoch = w->read_epoch & ~WORD_READ_BEFORE;
  bool race = unordered(w->writer, w->write_epoch, actor, now, group);
  if (access != ACCESS_READ) {
    race |= unordered(w->reader, read_epoch, actor, now, group) || (w->read_epoch & WORD_READ_BEFORE) != 0;
    w->writer = actor;
    w->write_epoch = now;
    return race;
  }
  const uint32_t before = (w->read_epoch & WORD_READ_BEFORE) | (w->reader != 0 && read_epoch < group ? WORD_READ_BEFORE : 0);
  w->reader = w->reader != 0 && w->reader != self && read_epoch == now ? WORD_MANY : self;
  w->read_epoch = now | before;
  return race;
}

const char *memory_check(memory *m, uintptr_t address, size_t length, memory_access access, uint32_t thread, char *text, size_t size) {
  memory_range *r = find(m, address);
  if (r == NULL || address + length > r->end) {
    return out_of_bounds(m, address, length, access, text, size);
  }
  char name[32];
  const size_t offset = address - r->begin;
  if ((length & (length - 1)) == 0 && address % length != 0) {
    name_of(r, name, sizeof(name));
    snprintf(text, size, "misaligned %s of %zu bytes at offset %zu of %s", verbs[access], length, offset, name);
    return text;
  }
  if (access != ACCESS_READ && r->bound_twice) {
    name_of(r, name, sizeof(name));
    snprintf(text, size, "%s at offset %zu of %s, which is bound at another index too", verbs[access], offset, name);
    return text;
  }
  const bool shared = r == m->threadgroup;
  const uint32_t now = shared ? m->threadgroup_epoch : m->device_epoch;
  const uint32_t group = shared ? 0 : m->device_group_epoch;
  for (uintptr_t at = address / WORD_BYTES; at <= (address + length - 1) / WORD_BYTES; ++at) {
    word_state *w = &r->words[at - r->begin / WORD_BYTES];
    if (shared && access == ACCESS_READ && w->writer == 0) {
      snprintf(text, size, "read of threadgroup memory never written at offset %zu", offset);
      return text;
    }
    const word_state old = *w;
    if (races(w, access, thread + 1, now, group)) {
      name_of(r, name, sizeof(name));
      const bool by_writer = unordered(old.writer, old.write_epoch, access == ACCESS_ATOMIC ? WORD_ATOMIC : thread + 1, now, group);
      const uint32_t other = by_writer ? old.writer : old.reader;
      char who[48] = "other threads";
      if (other < WORD_ATOMIC) {
        snprintf(who, sizeof(who), "thread %u of the grid", other - 1);
      }
      snprintf(text, size, "data race: %s of %zu bytes at offset %zu of %s, and a %s by %s with no barrier between",
               verbs[access], length, offset, name, by_writer ? "write" : "read", who);
      return text;
    }
  }
  return NULL;
}
