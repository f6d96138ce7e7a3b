/* Eight threads on one device: calls with and without streams, shared scratch and plan, buffers that
 * come and go. Every result is checked. Also the program to run under ThreadSanitizer. */
#include <pthread.h>
#include <string.h>

#include "harness.h"

enum { THREADS = 8 };

static pagedrt_device *device;
static pagedrt_scratch *scratch;
static pagedrt_plan *plan;
static int rounds = 200;

static void run_plan(const arrays *a, pagedrt_stream *stream) {
  CHECK(pagedrt_plan_run(plan, &a->call, stream));
}

static void run_scratch(const arrays *a, pagedrt_stream *stream) {
  CHECK(pagedrt_paged_attention(device, &geometry, &(pagedrt_layout){8, 0, 0}, &a->call, scratch, stream));
}

static void run_own(const arrays *a, pagedrt_stream *stream) {
  CHECK(pagedrt_paged_attention(device, &geometry, &(pagedrt_layout){4, 0, 0}, &a->call, NULL, stream));
}

static void run_one_pass(const arrays *a, pagedrt_stream *stream) {
  CHECK(pagedrt_paged_attention(device, &geometry, NULL, &a->call, NULL, stream));
}

static void run_foreign(const arrays *a, pagedrt_stream *stream) {
  float out[QUERY_HEADS * HEAD_DIM];
  pagedrt_call call = a->call;
  call.out = out;
  CHECK(pagedrt_paged_attention(device, &geometry, &(pagedrt_layout){8, 0, 0}, &call, scratch, stream));
  if (stream != NULL) CHECK(pagedrt_stream_synchronize(stream));
  memcpy(a->call.out, out, sizeof out);
}

static void *work(void *argument) {
  static void (*const kinds[])(const arrays *, pagedrt_stream *) = {run_plan, run_scratch, run_own, run_one_pass, run_foreign};
  size_t number = (size_t)argument;
  arrays a;
  pagedrt_stream *stream;
  arrays_make(device, &a, (float)number);
  CHECK(pagedrt_stream_create(device, &stream));
  for (int i = 0; i < rounds; i++) {
    pagedrt_stream *on = (i + number) % 3 == 0 ? NULL : stream;
    memset(a.call.out, 0xFF, QUERY_HEADS * HEAD_DIM * sizeof(float));
    kinds[(i + number) % 5](&a, on);
    if (i % 7 == 0) kinds[i % 5](&a, on);
    if (on != NULL) CHECK(pagedrt_stream_synchronize(stream));
    arrays_check(&a, (float)number);
    if (i % 20 == 0) {
      arrays_destroy(&a);
      arrays_make(device, &a, (float)number);
    }
    if (i % 50 == 0) {
      pagedrt_stream_destroy(stream);
      CHECK(pagedrt_stream_create(device, &stream));
    }
  }
  pagedrt_stream_destroy(stream);
  arrays_destroy(&a);
  return NULL;
}

void softmetal_testing_set_pipeline_milliseconds(uint32_t milliseconds); /* native/softmetal/testing.h */

int main(int count, char **values) {
  if (count > 1) rounds = atoi(values[1]);
  pthread_t threads[THREADS];
  CHECK(pagedrt_device_create(NULL, 0, &device));
  CHECK(pagedrt_scratch_create(device, &scratch));
  CHECK(pagedrt_plan_create(device, &geometry, &(pagedrt_split){TOKENS, {8, 0, 0}}, 1, &plan));
  pagedrt_stats stats;
  softmetal_testing_set_pipeline_milliseconds(50); /* all ask for the one-pass kernel while it is made */
  for (size_t i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) abort();
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  CHECK(pagedrt_device_get_stats(device, &stats));
  /* reduce, partial and one-pass, however many threads asked at once */
  printf("pipelines built: %llu\n", (unsigned long long)stats.pipelines_built);
  if (stats.pipelines_built != 3) return 1;
  pagedrt_plan_destroy(plan);
  pagedrt_scratch_destroy(scratch);
  pagedrt_device_destroy(device);
  return 0;
}
