/* A program that embeds pagedrt: one call, then the same through a plan on a stream.
 * usage: decode INPUT OUTPUT. INPUT is a struct problem and then queries, key_pages, value_pages, page_table and
 * dependency; OUTPUT gets both results. */
#include <pagedrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct problem {
  uint32_t query_heads, kv_heads, head_dim, page_size, dtype, page_capacity, page_table_length, context_tokens, blocks;
  float scale;
};

static void check(pagedrt_status status) {
  if (status == PAGEDRT_OK) return;
  fprintf(stderr, "decode: %s\n", pagedrt_last_error());
  exit(1);
}

/* The next length bytes of the file, in memory of the device. */
static pagedrt_buffer *load(pagedrt_device *device, FILE *file, size_t length) {
  pagedrt_buffer *buffer = NULL;
  check(pagedrt_buffer_create(device, length, &buffer));
  if (fread(pagedrt_buffer_contents(buffer), 1, length, file) != length) {
    fprintf(stderr, "decode: the input is too short\n");
    exit(1);
  }
  return buffer;
}

int main(int count, char **arguments) {
  struct problem problem;
  FILE *input = count == 3 ? fopen(arguments[1], "rb") : NULL;
  FILE *output = count == 3 ? fopen(arguments[2], "wb") : NULL;
  if (input == NULL || output == NULL || fread(&problem, sizeof problem, 1, input) != 1) {
    fprintf(stderr, "usage: decode INPUT OUTPUT\n");
    return 1;
  }
  if (strcmp(pagedrt_version(), "0.1.0") < 0) return 1;

  const pagedrt_geometry geometry = {
    .query_heads = problem.query_heads, .kv_heads = problem.kv_heads, .head_dim = problem.head_dim,
    .page_size = problem.page_size, .dtype = (pagedrt_dtype)problem.dtype, .scale = problem.scale};
  const size_t element = geometry.dtype == PAGEDRT_FLOAT32 ? 4 : 2;
  const size_t query_bytes = (size_t)problem.query_heads * problem.head_dim * element;
  const size_t page_bytes =
    (size_t)problem.kv_heads * problem.page_capacity * problem.page_size * problem.head_dim * element;

  pagedrt_device *device = NULL;
  check(pagedrt_device_create(NULL, 0, &device));
  pagedrt_buffer *buffers[] = {
    load(device, input, query_bytes), load(device, input, page_bytes), load(device, input, page_bytes),
    load(device, input, (size_t)problem.page_table_length * 4), load(device, input, 4), NULL};
  check(pagedrt_buffer_create(device, query_bytes, &buffers[5]));
  const pagedrt_call call = {
    .queries = pagedrt_buffer_contents(buffers[0]), .key_pages = pagedrt_buffer_contents(buffers[1]),
    .value_pages = pagedrt_buffer_contents(buffers[2]), .page_table = pagedrt_buffer_contents(buffers[3]),
    .dependency = pagedrt_buffer_contents(buffers[4]), .out = pagedrt_buffer_contents(buffers[5]),
    .page_capacity = problem.page_capacity, .page_table_length = problem.page_table_length,
    .context_tokens = problem.context_tokens};

  check(pagedrt_paged_attention(device, &geometry, &(pagedrt_layout){problem.blocks, 0, 0}, &call, NULL, NULL));
  fwrite(call.out, 1, query_bytes, output);
  memset(call.out, 0xFF, query_bytes);

  const pagedrt_split split = {problem.context_tokens, {problem.blocks, 0, 0}};
  pagedrt_plan *plan = NULL;
  pagedrt_stream *stream = NULL;
  check(pagedrt_plan_create(device, &geometry, &split, 1, &plan));
  check(pagedrt_stream_create(device, &stream));
  for (int step = 0; step < 3; step++) check(pagedrt_plan_run(plan, &call, stream));
  check(pagedrt_stream_synchronize(stream));
  fwrite(call.out, 1, query_bytes, output);

  pagedrt_stream_destroy(stream);
  pagedrt_plan_destroy(plan);
  for (int i = 0; i < 6; i++) pagedrt_buffer_destroy(buffers[i]);
  pagedrt_device_destroy(device);
  fclose(input);
  return fclose(output) == 0 ? 0 : 1;
}
