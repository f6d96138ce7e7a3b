/* The C ABI under a fuzzer: each input is up to six steps on one device. Whatever they ask for, nothing
 * crashes, every status is told, and what is accepted was legal. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static pagedrt_device *device;
static pagedrt_device_info info;
static unsigned long long executions, reached, dispatches;

void expectation_failed(const char *file, int line, const char *truth, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: expected %s: ", file, line, truth);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, " (last error: %s)\n", pagedrt_last_error());
  va_end(arguments);
  abort();
}

pagedrt_status expect_told(pagedrt_status status) {
  EXPECT(status == PAGEDRT_OK || status == PAGEDRT_INVALID_INPUT || status == PAGEDRT_DEVICE_ERROR || status == PAGEDRT_OUT_OF_MEMORY,
         "status %d", status);
  EXPECT(status == PAGEDRT_OK || strlen(pagedrt_last_error()) > 0, "status %d", status);
  return status;
}

static void finish(void) {
  fprintf(stderr, "executions: %llu, reached a dispatch: %llu (%.1f %%), dispatches: %llu\n", executions, reached,
          executions > 0 ? 100.0 * (double)reached / (double)executions : 0, dispatches);
  pagedrt_device_destroy(device);
}

static void start(void) {
  EXPECT(pagedrt_device_create("cpu", 2, &device) == PAGEDRT_OK, "no device");
  EXPECT(pagedrt_device_get_info(device, &info) == PAGEDRT_OK, "no info");
  atexit(finish);
}

static uint64_t dispatches_made(void) {
  pagedrt_stats stats;
  EXPECT(pagedrt_device_get_stats(device, &stats) == PAGEDRT_OK, "no stats");
  return stats.dispatches;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (device == NULL) start();
  session s = {.in = {data, data + size}, .device = device, .max_buffer_length = info.max_buffer_length,
               .memory_page = (size_t)info.memory_page};
  uint64_t before = dispatches_made();
  for (int steps = 1 + take(&s.in) % 6; steps > 0; steps--) {
    uint8_t kind = take(&s.in);
    if (kind < 120) step_call(&s);
    else if (kind < 180) step_plan(&s);
    else if (kind < 220) step_scratch(&s);
    else if (kind < 235) step_stream(&s);
    else if (kind < 248) step_buffer(&s);
    else if (kind < 254) step_device(&s);
    else step_nothing(&s);
  }
  session_end(&s);
  uint64_t made = dispatches_made() - before;
  executions++;
  reached += made > 0;
  dispatches += made;
  return 0;
}
