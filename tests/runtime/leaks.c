/* Resident memory between call 1,000 and call 100,000 of each kind: it must not grow by 1 MiB. */
#include <string.h>
#include <unistd.h>

#include "harness.h"

static long resident_kib(void) {
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2) abort();
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

typedef struct state {
  pagedrt_device *device;
  pagedrt_stream *stream;
  pagedrt_plan *plan;
  arrays owned;
  pagedrt_call foreign;
} state;

static void plan_run(state *s) {
  CHECK(pagedrt_plan_run(s->plan, &s->owned.call, s->stream));
}

static void one_shot(state *s) {
  CHECK(pagedrt_paged_attention(s->device, &geometry, &(pagedrt_layout){4, 0, 0}, &s->owned.call, NULL, NULL));
}

static void foreign_one_shot(state *s) {
  CHECK(pagedrt_paged_attention(s->device, &geometry, NULL, &s->foreign, NULL, NULL));
}

static void foreign_on_a_stream(state *s) {
  CHECK(pagedrt_paged_attention(s->device, &geometry, &(pagedrt_layout){4, 0, 0}, &s->foreign, NULL, s->stream));
}

static void failing_call(state *s) {
  pagedrt_call call = s->owned.call;
  call.context_tokens = TOKENS - 1;
  CHECK(pagedrt_plan_run(s->plan, &call, s->stream));
  if (pagedrt_stream_synchronize(s->stream) != PAGEDRT_INVALID_INPUT) abort();
}

static void handles(state *s) {
  pagedrt_stream *stream;
  pagedrt_scratch *scratch;
  pagedrt_plan *plan;
  pagedrt_buffer *buffer;
  CHECK(pagedrt_stream_create(s->device, &stream));
  CHECK(pagedrt_scratch_create(s->device, &scratch));
  CHECK(pagedrt_plan_create(s->device, &geometry, &(pagedrt_split){TOKENS, {8, 0, 0}}, 1, &plan));
  CHECK(pagedrt_buffer_create(s->device, 1 << 16, &buffer));
  CHECK(pagedrt_plan_run(plan, &s->owned.call, stream));
  CHECK(pagedrt_paged_attention(s->device, &geometry, &(pagedrt_layout){8, 0, 0}, &s->owned.call, scratch, stream));
  pagedrt_buffer_destroy(buffer);
  pagedrt_plan_destroy(plan);
  pagedrt_scratch_destroy(scratch);
  pagedrt_stream_destroy(stream);
}

static void devices(state *s) {
  (void)s;
  pagedrt_device *device;
  arrays a;
  CHECK(pagedrt_device_create(NULL, 1, &device));
  arrays_make(device, &a, 0);
  CHECK(pagedrt_paged_attention(device, &geometry, &(pagedrt_layout){4, 0, 0}, &a.call, NULL, NULL));
  CHECK(pagedrt_device_close(device));
  arrays_destroy(&a);
  pagedrt_device_destroy(device);
}

/* The file is made at first, and again after every tenth device. */
static void archived_devices(state *s) {
  (void)s;
  static int count;
  pagedrt_device *device;
  CHECK(pagedrt_device_open(&(pagedrt_device_options){.threads = 1, .pipeline_archive = "pipelines"}, &device));
  CHECK(pagedrt_device_close(device));
  pagedrt_device_destroy(device);
  if (++count % 10 == 0 && remove("pipelines") != 0) abort();
}

static int measure(state *s, const char *what, void (*step)(state *), long first, long last) {
  long before = 0;
  for (long i = 0; i < last; i++) {
    if (i == first) before = resident_kib();
    step(s);
  }
  CHECK(pagedrt_stream_synchronize(s->stream));
  long growth = resident_kib() - before;
  printf("%s: %ld KiB from %ld to %ld\n", what, growth, first, last);
  return growth >= 1024;
}

int main(void) {
  state s;
  CHECK(pagedrt_device_create(NULL, 0, &s.device));
  CHECK(pagedrt_stream_create(s.device, &s.stream));
  CHECK(pagedrt_plan_create(s.device, &geometry, &(pagedrt_split){TOKENS, {8, 0, 0}}, 1, &s.plan));
  arrays_make(s.device, &s.owned, 0);
  s.foreign = s.owned.call;
  void *queries = malloc(sizeof(float) * QUERY_HEADS * HEAD_DIM), *out = malloc(sizeof(float) * QUERY_HEADS * HEAD_DIM);
  s.foreign.queries = memcpy(queries, s.owned.call.queries, sizeof(float) * QUERY_HEADS * HEAD_DIM);
  s.foreign.out = out;
  int grew = 0;
  grew |= measure(&s, "plan_run", plan_run, 1000, 100000);
  grew |= measure(&s, "one-shot", one_shot, 1000, 100000);
  grew |= measure(&s, "one-shot, foreign arrays", foreign_one_shot, 1000, 100000);
  grew |= measure(&s, "on a stream, foreign arrays", foreign_on_a_stream, 1000, 20000);
  grew |= measure(&s, "failing call", failing_call, 1000, 20000);
  grew |= measure(&s, "stream, scratch, plan, buffer", handles, 200, 3000);
  grew |= measure(&s, "device", devices, 100, 1000);
  grew |= measure(&s, "device with an archive", archived_devices, 100, 1000);
  free(queries);
  free(out);
  return grew;
}
