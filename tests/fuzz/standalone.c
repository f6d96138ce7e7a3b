/* Runs the fuzz target without libFuzzer.
 * usage: fuzz FILE...            those inputs
 *        fuzz --seconds N SEED   random inputs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1024 };

static uint8_t data[MOST_BYTES];

static uint64_t next_random(uint64_t *state) {
  uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return mixed ^ mixed >> 31;
}

static void run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
}

static void run_random(time_t seconds, uint64_t seed) {
  for (time_t end = time(NULL) + seconds; time(NULL) < end; seed++) {
    uint64_t state = seed;
    size_t size = 16 + next_random(&state) % (MOST_BYTES - 16);
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)next_random(&state);
    if (getenv("FUZZ_SHOW_SEEDS") != NULL) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    LLVMFuzzerTestOneInput(data, size);
  }
}

int main(int count, char **values) {
  if (count == 4 && strcmp(values[1], "--seconds") == 0) {
    run_random(atol(values[2]), strtoull(values[3], NULL, 10));
    return 0;
  }
  for (int i = 1; i < count; i++) run_file(values[i]);
  return 0;
}
