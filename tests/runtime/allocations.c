/* Counts heap allocations, by any thread of the process, over 1,000 plan runs. */
#include <stdatomic.h>
#include <string.h>

#include "harness.h"

static atomic_bool counting;
static atomic_ulong counted;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count(void) {
  if (atomic_load_explicit(&counting, memory_order_relaxed)) atomic_fetch_add(&counted, 1);
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void *realloc(void *old, size_t size) {
  count();
  return __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory == NULL;
}

static void runs(pagedrt_plan *plan, const pagedrt_call *call, pagedrt_stream *stream, int times) {
  for (int i = 0; i < times; i++) {
    CHECK(pagedrt_plan_run(plan, call, stream));
    if (stream != NULL && i % 10 == 9) CHECK(pagedrt_stream_synchronize(stream));
  }
  if (stream != NULL) CHECK(pagedrt_stream_synchronize(stream));
}

static void measure(const char *what, pagedrt_plan *plan, const pagedrt_call *call, pagedrt_stream *stream) {
  runs(plan, call, stream, 1000);
  atomic_store(&counted, 0);
  atomic_store(&counting, true);
  runs(plan, call, stream, 1000);
  atomic_store(&counting, false);
  printf("%s: %lu allocations\n", what, atomic_load(&counted));
  if (atomic_load(&counted) != 0) exit(1);
}

int main(void) {
  pagedrt_device *device;
  pagedrt_stream *stream;
  pagedrt_plan *one_pass, *two_pass;
  arrays a;
  CHECK(pagedrt_device_create(NULL, 0, &device));
  CHECK(pagedrt_stream_create(device, &stream));
  CHECK(pagedrt_plan_create(device, &geometry, &(pagedrt_split){TOKENS, {0, 0, 0}}, 1, &one_pass));
  CHECK(pagedrt_plan_create(device, &geometry, &(pagedrt_split){TOKENS, {8, 0, 0}}, 1, &two_pass));
  arrays_make(device, &a, 0);
  /* The counter counts: else a silent hook would pass. */
  atomic_store(&counting, true);
  free(memset(malloc(1), 0, 1));
  atomic_store(&counting, false);
  if (atomic_load(&counted) != 1) return 2;
  measure("one-pass on a stream", one_pass, &a.call, stream);
  measure("two-pass on a stream", two_pass, &a.call, stream);
  measure("one-pass without a stream", one_pass, &a.call, NULL);
  measure("two-pass without a stream", two_pass, &a.call, NULL);
  arrays_check(&a, 0);
  return 0;
}
