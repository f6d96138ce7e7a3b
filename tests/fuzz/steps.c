#include <stdlib.h>
#include <string.h>

#include "arrays.h"

static pagedrt_stream *stream_or_null(session *s) {
  if (s->stream == NULL) expect_told(pagedrt_stream_create(s->device, &s->stream));
  return s->stream;
}

static pagedrt_scratch *scratch_or_null(session *s) {
  if (s->scratch == NULL) expect_told(pagedrt_scratch_create(s->device, &s->scratch));
  return s->scratch;
}

void step_call(session *s) {
  attempt a = {.geometry = choose_geometry(s), .layout = choose_layout(s)};
  if (!choose_call(s, &a, false)) return;
  uint8_t how = take(&s->in);
  pagedrt_stream *stream = how % 4 == 1 ? stream_or_null(s) : NULL;
  pagedrt_scratch *scratch = how % 8 >= 4 ? scratch_or_null(s) : NULL;
  bool no_geometry = how == 255, no_call = how == 254, no_layout = how == 253;
  for (int times = 1 + how / 64; times > 0; times--) {
    pagedrt_status status = expect_told(pagedrt_paged_attention(s->device, no_geometry ? NULL : &a.geometry, no_layout ? NULL : &a.layout,
                                                                no_call ? NULL : &a.call, scratch, stream));
    if (stream != NULL) continue;
    check_outcome(&a, status);
    if (status != PAGEDRT_OK) return;
  }
}

void step_plan(session *s) {
  input *in = &s->in;
  pagedrt_split splits[4];
  uint32_t count = 1 + below(in, 4), limit = 0;
  attempt a = {.geometry = choose_geometry(s)};
  for (uint32_t i = 0; i < count; i++) {
    limit += 1 + below(in, 400);
    splits[i] = (pagedrt_split){or_any(in, i + 1 == count ? limit + 700 : limit), choose_layout(s)};
    uint32_t blocks = splits[i].layout.blocks;
    if (blocks <= 1024 && blocks > a.layout.blocks) a.layout.blocks = blocks;
  }
  if (!choose_call(s, &a, true)) return;
  bool nowhere = odd_one(in), none = odd_one(in);
  pagedrt_plan *plan = NULL;
  pagedrt_status status =
      expect_told(pagedrt_plan_create(s->device, &a.geometry, none ? NULL : splits, count, nowhere ? NULL : &plan));
  EXPECT((status == PAGEDRT_OK) == (plan != NULL), "status %d", status);
  if (plan == NULL) return;
  uint8_t how = take(in);
  pagedrt_stream *stream = how % 3 == 1 ? stream_or_null(s) : NULL;
  for (int times = 1 + how / 100; times > 0; times--) {
    status = expect_told(pagedrt_plan_run(plan, &a.call, stream));
    if (stream != NULL) continue;
    check_outcome(&a, status);
    if (status != PAGEDRT_OK) break;
  }
  if (how % 5 == 4) {
    expect_told(pagedrt_plan_close(plan));
    EXPECT(pagedrt_plan_run(plan, &a.call, stream) != PAGEDRT_OK, "a closed plan ran");
  }
  pagedrt_plan_destroy(plan);
}

static pagedrt_slice choose_slice(session *s, size_t length) {
  input *in = &s->in;
  pagedrt_slice slice = {NULL, 2 * (size_t)below(in, 9)};
  if (odd_one(in)) return slice;
  if (odd_one(in) && length > 0) length--;
  if (length <= 1 << 22) slice.buffer = buffer_owned(s, slice.offset + length);
  if (odd_one(in)) slice.offset = or_any(in, take_word(in));
  if (odd_one(in)) slice.offset = SIZE_MAX - take(in);
  return slice;
}

static void scratch_verb(session *s, pagedrt_scratch *scratch, pagedrt_scratch_spec *spec, unsigned verb) {
  static const char *const libraries[] = {"sdpa_partial", "sdpa_one_pass", "sdpa_reduce", "", "sdpa_partial_"};
  input *in = &s->in;
  const pagedrt_dispatch *kernel = NULL;
  pagedrt_slice slices[4];
  pagedrt_output_spec output;
  if (verb == 0) {
    if (expect_told(pagedrt_scratch_lock(scratch)) == PAGEDRT_OK) s->scratch_locked = true;
  } else if (verb == 1) {
    pagedrt_library *library = NULL;
    const char *function = "";
    expect_told(pagedrt_device_library(s->device, libraries[odd_one(in) ? below(in, 5) : 0], &library));
    expect_told(pagedrt_partial_function(spec->head_dim, spec->dtype, &function));
    if (odd_one(in)) function = take(in) < 128 ? NULL : "pagedrt_sdpa_partial_hd64_f32";
    expect_told(pagedrt_scratch_prepare(scratch, odd_one(in) ? NULL : spec, odd_one(in) ? NULL : stream_or_null(s), library,
                                        function));
  } else if (verb == 2) {
    expect_told(pagedrt_scratch_partial(scratch, choose_slice(s, 4), odd_one(in) ? NULL : &kernel, odd_one(in) ? NULL : slices));
  } else if (verb == 3) {
    expect_told(pagedrt_scratch_reduce(scratch, odd_one(in) ? NULL : &kernel, odd_one(in) ? NULL : &output));
  } else if (verb == 4) {
    size_t row = (size_t)spec->query_heads * spec->blocks * 4;
    for (int i = 0; i < 3; i++) slices[i] = choose_slice(s, i == 0 ? row * spec->head_dim : row);
    size_t out = (size_t)spec->query_heads * spec->head_dim * (spec->dtype == PAGEDRT_FLOAT32 ? 4 : 2);
    expect_told(pagedrt_scratch_update(scratch, odd_one(in) ? NULL : slices, choose_slice(s, out)));
  } else {
    if (expect_told(pagedrt_scratch_unlock(scratch)) == PAGEDRT_OK) s->scratch_locked = false;
  }
}

/* The verbs as they belong together, with a few of them dropped, twice, or out of place; then a call. */
void step_scratch(session *s) {
  input *in = &s->in;
  pagedrt_scratch *scratch = odd_one(in) ? NULL : scratch_or_null(s);
  attempt a = {.geometry = choose_geometry(s), .layout = {.blocks = 1 + below(in, 8)}};
  pagedrt_scratch_spec spec = {a.geometry.query_heads, a.geometry.kv_heads, or_any(in, a.layout.blocks), a.geometry.head_dim,
                               a.geometry.page_size, 0, a.geometry.dtype, or_any(in, 0), or_any(in, 0)};
  memcpy(&spec.scale_bits, &a.geometry.scale, 4);
  bool large = (uint64_t)spec.query_heads * (spec.blocks <= 1024 ? spec.blocks : 1) > 1 << 13;
  if (large || !choose_call(s, &a, false)) return;
  for (unsigned verb = 0; verb < 6; verb++) {
    unsigned chance = take(in);
    if (scratch == NULL && verb == 0) expect_told(pagedrt_scratch_lock(NULL));
    if (chance < 240) scratch_verb(s, scratch, &spec, verb);
    if (chance >= 248) scratch_verb(s, scratch, &spec, chance % 6);
  }
  bool waits = take(in) % 2 == 0;
  pagedrt_status status =
      expect_told(pagedrt_paged_attention(s->device, &a.geometry, &a.layout, &a.call, scratch, waits ? NULL : stream_or_null(s)));
  if (waits) check_outcome(&a, status);
}

void step_stream(session *s) {
  pagedrt_stream *stream = odd_one(&s->in) ? NULL : stream_or_null(s);
  uint8_t what = take(&s->in);
  if (what < 120) {
    expect_told(pagedrt_stream_synchronize(stream));
  } else if (what < 220) {
    expect_told(pagedrt_stream_drain(stream));
  } else {
    expect_told(pagedrt_stream_close(stream));
    EXPECT(stream == NULL || pagedrt_stream_synchronize(stream) != PAGEDRT_OK, "a closed stream synchronized");
  }
}

void step_buffer(session *s) {
  input *in = &s->in;
  size_t length = below(in, 20000);
  if (odd_one(in)) length = (size_t)take_word(in) << below(in, 33);
  if (take(in) < 100) {
    /* above any memory's size creating must fail; below it nothing is touched */
    buffer_owned(s, length);
    return;
  }
  void *pointer = memory_exact(s, 4096, below(in, 64));
  if (odd_one(in)) pointer = (void *)(uintptr_t)(((uint64_t)take_word(in) << 32) | take_word(in));
  bool writable = take(in) % 2 != 0;
  pagedrt_buffer *buffer = buffer_wrapped(s, pointer, length, writable);
  bool owned = pagedrt_device_owns(s->device, pointer, length, writable);
  EXPECT(buffer == NULL || owned, "a wrapped buffer of %zu bytes is not the device's", length);
  pagedrt_device_owns(s->device, (void *)(uintptr_t)take_word(in), or_any(in, 1), writable);
}

void step_device(session *s) {
  static const char *const names[] = {"cpu", "metal", "simulator", "", "CPU", "cpu "};
  input *in = &s->in;
  uint8_t chance = take(in);
  pagedrt_device *device = NULL;
  if (chance < 250) {
    pagedrt_device_info info;
    expect_told(pagedrt_device_get_info(s->device, odd_one(in) ? NULL : &info));
    return;
  }
  uint32_t threads = 1 + below(in, 2);
  if (odd_one(in)) threads = UINT32_MAX - take(in);
  pagedrt_status status = expect_told(pagedrt_device_create(names[below(in, 6)], threads, chance == 255 ? NULL : &device));
  EXPECT((status == PAGEDRT_OK) == (device != NULL), "status %d", status);
  if (device == NULL) return;
  pagedrt_device *first = s->device;
  attempt a = {.geometry = choose_geometry(s)};
  if (choose_call(s, &a, false)) {
    /* handles of one device in calls of another */
    pagedrt_stream *stream = take(in) % 2 == 0 ? stream_or_null(s) : NULL;
    expect_told(pagedrt_paged_attention(device, &a.geometry, NULL, &a.call, take(in) % 2 == 0 ? scratch_or_null(s) : NULL, stream));
    expect_told(pagedrt_device_close(device));
    EXPECT(pagedrt_paged_attention(device, &a.geometry, NULL, &a.call, NULL, NULL) != PAGEDRT_OK, "a closed device ran");
  }
  s->device = first;
  pagedrt_device_destroy(device);
}

/* NULL wherever a handle is asked for. */
void step_nothing(session *s) {
  pagedrt_call call = {0};
  pagedrt_geometry geometry = {0};
  pagedrt_slice slice = {NULL, 0}, slices[4] = {slice};
  const pagedrt_dispatch *kernel;
  pagedrt_output_spec output;
  pagedrt_library *library;
  pagedrt_device *device;
  expect_told(pagedrt_device_open(NULL, &device));
  expect_told(pagedrt_device_close(NULL));
  expect_told(pagedrt_device_library(NULL, NULL, &library));
  expect_told(pagedrt_device_library(s->device, NULL, NULL));
  expect_told(pagedrt_device_get_stats(NULL, NULL));
  expect_told(pagedrt_buffer_create(NULL, 1, NULL));
  expect_told(pagedrt_buffer_wrap(NULL, NULL, 1, true, NULL));
  expect_told(pagedrt_stream_create(NULL, NULL));
  expect_told(pagedrt_stream_close(NULL));
  expect_told(pagedrt_paged_attention(NULL, &geometry, NULL, &call, NULL, NULL));
  expect_told(pagedrt_paged_attention(s->device, NULL, NULL, NULL, NULL, NULL));
  expect_told(pagedrt_plan_create(s->device, NULL, NULL, 0, NULL));
  expect_told(pagedrt_plan_run(NULL, NULL, NULL));
  expect_told(pagedrt_plan_close(NULL));
  expect_told(pagedrt_scratch_create(s->device, NULL));
  expect_told(pagedrt_scratch_prepare(NULL, NULL, NULL, NULL, NULL));
  expect_told(pagedrt_scratch_partial(NULL, slice, &kernel, slices));
  expect_told(pagedrt_scratch_reduce(NULL, &kernel, &output));
  expect_told(pagedrt_scratch_update(NULL, slices, slice));
  expect_told(pagedrt_partial_function(take_word(&s->in), (pagedrt_dtype)take_word(&s->in), NULL));
  pagedrt_device_destroy(NULL);
  pagedrt_buffer_destroy(NULL);
  pagedrt_stream_destroy(NULL);
  pagedrt_plan_destroy(NULL);
  pagedrt_scratch_destroy(NULL);
  pagedrt_device_count_copy(NULL, 1);
  EXPECT(pagedrt_buffer_contents(NULL) == NULL && pagedrt_buffer_length(NULL) == 0, "of NULL");
  EXPECT(!pagedrt_device_owns(NULL, NULL, 0, false), "of NULL");
}
