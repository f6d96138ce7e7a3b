/* Which memory a simulated thread may touch, and who touched each word last. */
#ifndef SOFTMETAL_SIMULATOR_MEMORY_H
#define SOFTMETAL_SIMULATOR_MEMORY_H

#include "simulator.h"

/* The last accesses to one word. Epochs grow at every barrier and at every threadgroup, so two
 * accesses by different threads race when their epochs are equal, or when the earlier one is of an
 * earlier threadgroup. */
typedef struct word_state {
  uint32_t writer, write_epoch; /* thread + 1, WORD_ATOMIC, or 0: nobody yet */
  uint32_t reader, read_epoch;  /* also WORD_MANY */
} word_state;

enum { WORD_BYTES = 2 }; /* the smallest element a shader writes */
enum { WORD_ATOMIC = 0x7FFFFFFE, WORD_MANY = 0x7FFFFFFF };
#define WORD_READ_BEFORE 0x80000000u /* in read_epoch: an earlier threadgroup read it too */

typedef struct memory_range {
  uintptr_t begin, end;
  int index;         /* [[buffer(index)]]; -1 for threadgroup memory */
  bool bound_twice;  /* at another index too: writing it breaks MSL's no-alias rule */
  word_state *words; /* one for each word from begin rounded down */
  size_t words_size; /* bytes */
} memory_range;

typedef enum memory_access { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } memory_access;

typedef struct memory {
  memory_range ranges[SOFTMETAL_BUFFERS + 1];
  int count;
  memory_range *threadgroup; /* the last range, or NULL */
  uint32_t device_epoch, device_group_epoch;
  uint32_t threadgroup_epoch;
} memory;

bool memory_begin(memory *m, const simulator_dispatch *dispatch, void *threadgroup_memory, char *message, size_t size);
void memory_begin_threadgroup(memory *m);
void memory_barrier(memory *m, int flags);
void memory_end(memory *m);
/* NULL when legal; else what is wrong, written to text. thread: index in the grid. */
const char *memory_check(memory *m, uintptr_t address, size_t length, memory_access access, uint32_t thread, char *text, size_t size);

#endif
