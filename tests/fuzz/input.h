/* A fuzzer's bytes as choices. Past the end all bytes are 0, and 0 always chooses what is legal. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct input {
  const uint8_t *next, *end;
} input;

static inline uint8_t take(input *in) {
  return in->next < in->end ? *in->next++ : 0;
}

static inline uint32_t take_word(input *in) {
  uint32_t word = 0;
  for (int i = 0; i < 4; i++) word = word << 8 | take(in);
  return word;
}

static inline uint32_t below(input *in, uint32_t count) {
  uint32_t value = take(in);
  if (count > 256) value = value << 8 | take(in);
  return value % count;
}

/* True for 1 byte in 64: rare enough for most calls to be legal in every field. */
static inline bool odd_one(input *in) {
  return take(in) >= 252;
}

/* `value`, or now and then any word at all, the ones next to limits more often. */
static inline uint32_t or_any(input *in, uint32_t value) {
  static const uint32_t limits[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF, 0x10000, 513};
  if (!odd_one(in)) return value;
  uint32_t kind = take(in);
  if (kind < 8) return limits[kind];
  return kind < 128 ? value + (kind % 2 != 0 ? 1 : -1u) : take_word(in);
}

#endif
