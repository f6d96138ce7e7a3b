#include "scratch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "errors.h"
#include "fork.h"
#include "stream.h"

scratch_layout scratch_lay_out(uint32_t query_heads, uint32_t blocks, uint32_t head_dim) {
  size_t rows = (size_t)query_heads * blocks, row = rows * sizeof(float);
  return (scratch_layout){row * head_dim, row * head_dim + row, row * head_dim + 2 * row};
}

/* --- the lock ------------------------------------------------------------------------------- */

static const void *this_thread(void) {
  static __thread char address;
  return &address;
}

pagedrt_status scratch_lock(pagedrt_scratch *scratch) {
  if (pthread_mutex_lock(&scratch->lock) == EDEADLK) {
    return error_set(PAGEDRT_INVALID_INPUT, "scratch: locked by this thread already, expected it unlocked");
  }
  __atomic_store_n(&scratch->holder, this_thread(), __ATOMIC_RELAXED);
  return PAGEDRT_OK;
}

static void hold_barrier(pagedrt_scratch *scratch, pagedrt_buffer *buffer) {
  object_release(scratch->barrier);
  scratch->barrier = buffer;
}

void scratch_unlock(pagedrt_scratch *scratch) {
  hold_barrier(scratch, NULL);
  __atomic_store_n(&scratch->holder, NULL, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&scratch->lock);
}

static bool held_here(const pagedrt_scratch *scratch) {
  return __atomic_load_n(&scratch->holder, __ATOMIC_RELAXED) == this_thread();
}

/* --- the four verbs --------------------------------------------------------------------------- */

static bool same_spec(const pagedrt_scratch_spec *a, const pagedrt_scratch_spec *b) {
  return a->query_heads == b->query_heads && a->kv_heads == b->kv_heads && a->blocks == b->blocks &&
         a->head_dim == b->head_dim && a->page_size == b->page_size && a->scale_bits == b->scale_bits && a->dtype == b->dtype &&
         a->heads == b->heads && a->simdgroups == b->simdgroups;
}

static pagedrt_geometry geometry_of(const pagedrt_scratch_spec *spec) {
  pagedrt_geometry geometry = {spec->query_heads, spec->kv_heads, spec->head_dim, spec->page_size, spec->dtype, 0};
  memcpy(&geometry.scale, &spec->scale_bits, sizeof geometry.scale);
  return geometry;
}

static pagedrt_layout layout_of(const pagedrt_scratch_spec *spec) {
  return (pagedrt_layout){spec->blocks, spec->heads, spec->simdgroups};
}

static void replace_state(pagedrt_scratch *scratch, const pagedrt_slice slices[3]) {
  for (int i = 0; i < 3; i++) object_retain(slices[i].buffer);
  for (int i = 0; i < 3; i++) object_release(scratch->state[i].buffer);
  memcpy(scratch->state, slices, sizeof scratch->state);
}

static void replace_output(pagedrt_scratch *scratch, pagedrt_slice output) {
  if (output.buffer != NULL) object_retain(output.buffer);
  pthread_mutex_lock(&scratch->device->lists);
  pagedrt_buffer *former = scratch->output.buffer;
  scratch->output = output;
  pthread_mutex_unlock(&scratch->device->lists);
  object_release(former);
}

pagedrt_status scratch_prepare(pagedrt_scratch *scratch, const pagedrt_scratch_spec *spec, pagedrt_stream *stream) {
  if (scratch->prepared && same_spec(&scratch->spec, spec)) return PAGEDRT_OK;
  /* A former stream's open calls hold the old memory: let them run. */
  order_pending(&scratch->last, stream);
  pagedrt_geometry geometry = geometry_of(spec);
  pagedrt_layout layout = layout_of(spec);
  pagedrt_dispatch partial, reduce;
  pagedrt_status status = dispatch_prepare(scratch->device, KERNEL_partial, &geometry, &layout, &partial);
  if (status == PAGEDRT_OK) status = dispatch_prepare(scratch->device, KERNEL_reduce, &geometry, &layout, &reduce);
  if (status != PAGEDRT_OK) return status;
  scratch_layout places = scratch_lay_out(spec->query_heads, spec->blocks, spec->head_dim);
  pagedrt_buffer *memory = NULL;
  status = buffer_new(scratch->device, places.length, &memory);
  if (status != PAGEDRT_OK) return status;
  replace_state(scratch, (pagedrt_slice[3]){{memory, 0}, {memory, places.sums}, {memory, places.maximums}});
  object_release(memory);
  replace_output(scratch, (pagedrt_slice){NULL, 0});
  scratch->partial = partial;
  scratch->reduce = reduce;
  scratch->spec = *spec;
  scratch->prepared = true;
  count_up(&scratch->device->counters.scratch_prepares, 1);
  return PAGEDRT_OK;
}

void scratch_partial(pagedrt_scratch *scratch, pagedrt_slice dependency, const pagedrt_dispatch **kernel, pagedrt_slice slices[4]) {
  *kernel = &scratch->partial;
  memcpy(slices, scratch->state, sizeof scratch->state);
  pthread_mutex_lock(&scratch->device->lists);
  slices[3] = scratch->output.buffer != NULL ? scratch->output : dependency;
  object_retain(slices[3].buffer);
  pthread_mutex_unlock(&scratch->device->lists);
  hold_barrier(scratch, slices[3].buffer);
}

void scratch_reduce(pagedrt_scratch *scratch, const pagedrt_dispatch **kernel, pagedrt_output_spec *output) {
  *kernel = &scratch->reduce;
  *output = (pagedrt_output_spec){{1, scratch->spec.query_heads, 1, scratch->spec.head_dim}, scratch->spec.dtype};
}

void scratch_update(pagedrt_scratch *scratch, const pagedrt_slice slices[3], pagedrt_slice output) {
  replace_state(scratch, slices);
  replace_output(scratch, output);
}

/* --- life --------------------------------------------------------------------------------------- */

void scratches_forget_output(pagedrt_device *device, const pagedrt_buffer *buffer) {
  unsigned forgotten = 0;
  pthread_mutex_lock(&device->lists);
  for (pagedrt_scratch *scratch = device->scratches; scratch != NULL; scratch = scratch->next_of_device) {
    if (scratch->output.buffer != buffer) continue;
    scratch->output = (pagedrt_slice){NULL, 0};
    forgotten++;
  }
  pthread_mutex_unlock(&device->lists);
  /* The caller holds a reference of its own: none of these is the last. */
  while (forgotten-- > 0) object_release((void *)buffer);
}

static void scratch_dispose(void *self) {
  pagedrt_scratch *scratch = self;
  pthread_mutex_lock(&scratch->device->lists);
  pagedrt_scratch **link = &scratch->device->scratches;
  while (*link != NULL && *link != scratch) link = &(*link)->next_of_device;
  if (*link != NULL) *link = scratch->next_of_device;
  pthread_mutex_unlock(&scratch->device->lists);
  for (int i = 0; i < 3; i++) object_release(scratch->state[i].buffer);
  object_release(scratch->output.buffer);
  object_release(scratch->barrier);
  object_release(scratch->last.stream);
  pthread_mutex_destroy(&scratch->lock);
  if (!scratch->internal) object_release(scratch->device);
  free(scratch);
}

/* Relocking and foreign unlocking are errors instead of hangs. */
static bool init_lock(pthread_mutex_t *lock) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  int failed = pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return failed == 0;
}

static pagedrt_status make(pagedrt_device *device, bool internal, pagedrt_scratch **out) {
  pagedrt_scratch *scratch = calloc(1, sizeof *scratch);
  if (scratch == NULL || !init_lock(&scratch->lock)) {
    free(scratch);
    return error_set(PAGEDRT_OUT_OF_MEMORY, "scratch: no memory for its handle");
  }
  object_init(&scratch->object, scratch_dispose);
  scratch->device = device;
  scratch->internal = internal;
  if (!internal) object_retain(device);
  pthread_mutex_lock(&device->lists);
  scratch->next_of_device = device->scratches;
  device->scratches = scratch;
  pthread_mutex_unlock(&device->lists);
  *out = scratch;
  return PAGEDRT_OK;
}

pagedrt_status scratch_new(pagedrt_device *device, pagedrt_scratch **scratch) {
  return make(device, true, scratch);
}

/* --- the C ABI ------------------------------------------------------------------------------------ */

static pagedrt_status usable(pagedrt_scratch *scratch) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (scratch == NULL) return error_set(PAGEDRT_INVALID_INPUT, "scratch: NULL, expected a scratch");
  return device_usable(scratch->device);
}

static pagedrt_status usable_and_held(pagedrt_scratch *scratch) {
  pagedrt_status status = usable(scratch);
  if (status != PAGEDRT_OK || held_here(scratch)) return status;
  return error_set(PAGEDRT_INVALID_INPUT, "scratch: not locked by this thread, expected pagedrt_scratch_lock first");
}

static pagedrt_status usable_and_prepared(pagedrt_scratch *scratch) {
  pagedrt_status status = usable_and_held(scratch);
  if (status != PAGEDRT_OK || scratch->prepared) return status;
  return error_set(PAGEDRT_INVALID_INPUT, "scratch: not prepared, expected pagedrt_scratch_prepare first");
}

static pagedrt_status check_slice(const pagedrt_scratch *scratch, pagedrt_slice slice, const char *name, size_t length, size_t alignment, bool writable) {
  const pagedrt_buffer *buffer = slice.buffer;
  if (buffer == NULL) return error_set(PAGEDRT_INVALID_INPUT, "%s: no buffer", name);
  if (buffer->device != scratch->device) {
    return error_set(PAGEDRT_INVALID_INPUT, "%s: a buffer of another device, expected the scratch's", name);
  }
  if (((uintptr_t)buffer->pointer + slice.offset) % alignment != 0) {
    return error_set(PAGEDRT_INVALID_INPUT, "%s: offset %zu, expected an address that is a multiple of the element size %zu", name,
                     slice.offset, alignment);
  }
  if (slice.offset > buffer->length || buffer->length - slice.offset < length) {
    return error_set(PAGEDRT_INVALID_INPUT, "%s: offset %zu in a buffer of %zu bytes, expected %zu bytes from there", name,
                     slice.offset, buffer->length, length);
  }
  if (writable && !buffer->writable) return error_set(PAGEDRT_INVALID_INPUT, "%s: a read-only buffer", name);
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_scratch_create(pagedrt_device *device, pagedrt_scratch **scratch) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (scratch == NULL) return error_set(PAGEDRT_INVALID_INPUT, "scratch: NULL, expected a place for the handle");
  return make(device, false, scratch);
}

void pagedrt_scratch_destroy(pagedrt_scratch *scratch) {
  if (scratch == NULL || fork_happened()) return;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  object_release(scratch);
  [pool drain];
}

pagedrt_status pagedrt_scratch_lock(pagedrt_scratch *scratch) {
  pagedrt_status status = usable(scratch);
  return status == PAGEDRT_OK ? scratch_lock(scratch) : status;
}

pagedrt_status pagedrt_scratch_unlock(pagedrt_scratch *scratch) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (scratch == NULL) return error_set(PAGEDRT_INVALID_INPUT, "scratch: NULL, expected a scratch");
  if (!held_here(scratch)) return error_set(PAGEDRT_INVALID_INPUT, "scratch: not locked by this thread");
  scratch_unlock(scratch);
  return PAGEDRT_OK;
}

static pagedrt_status check_spec(const pagedrt_scratch_spec *spec, const pagedrt_library *library, const char *function) {
  pagedrt_geometry geometry = geometry_of(spec);
  pagedrt_status status = check_geometry(&geometry);
  if (status != PAGEDRT_OK) return status;
  if (spec->blocks == 0) return error_set(PAGEDRT_INVALID_INPUT, "blocks: 0, expected 1 to %d", PAGEDRT_MAX_BLOCKS);
  pagedrt_layout layout = layout_of(spec);
  status = check_layout(&geometry, &layout);
  if (status != PAGEDRT_OK) return status;
  const char *expected = NULL;
  pagedrt_partial_function(spec->head_dim, spec->dtype, &expected);
  if (strcmp(function, expected) != 0) {
    return error_set(PAGEDRT_INVALID_INPUT, "function: %s, expected %s for head_dim %u and dtype %s", function, expected,
                     spec->head_dim, dtype_name(spec->dtype));
  }
  if (library->kind != KERNEL_partial) {
    return error_set(PAGEDRT_INVALID_INPUT, "library: %s, expected %s, which has %s", kernel_library_names[library->kind],
                     kernel_library_names[KERNEL_partial], function);
  }
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_scratch_prepare(pagedrt_scratch *scratch, const pagedrt_scratch_spec *spec, pagedrt_stream *stream, pagedrt_library *library, const char *function) {
  pagedrt_status status = usable_and_held(scratch);
  if (status == PAGEDRT_OK) status = stream_usable(stream);
  if (status != PAGEDRT_OK) return status;
  if (spec == NULL) return error_set(PAGEDRT_INVALID_INPUT, "spec: NULL, expected a spec");
  if (library == NULL) return error_set(PAGEDRT_INVALID_INPUT, "library: NULL, expected a library");
  if (function == NULL) return error_set(PAGEDRT_INVALID_INPUT, "function: NULL, expected a function's name");
  if (stream->device != scratch->device) return error_set(PAGEDRT_INVALID_INPUT, "stream: of another device, expected the scratch's");
  if (library->device != scratch->device) return error_set(PAGEDRT_INVALID_INPUT, "library: of another device, expected the scratch's");
  status = check_spec(spec, library, function);
  if (status != PAGEDRT_OK) return status;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  status = scratch_prepare(scratch, spec, stream);
  [pool drain];
  return status;
}

pagedrt_status pagedrt_scratch_partial(pagedrt_scratch *scratch, pagedrt_slice dependency, const pagedrt_dispatch **kernel, pagedrt_slice slices[4]) {
  pagedrt_status status = usable_and_prepared(scratch);
  if (status == PAGEDRT_OK) status = check_slice(scratch, dependency, "dependency", sizeof(uint32_t), sizeof(uint32_t), false);
  if (status != PAGEDRT_OK) return status;
  if (kernel == NULL || slices == NULL) {
    return error_set(PAGEDRT_INVALID_INPUT, "%s: NULL, expected a place for it", kernel == NULL ? "kernel" : "slices");
  }
  scratch_partial(scratch, dependency, kernel, slices);
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_scratch_reduce(pagedrt_scratch *scratch, const pagedrt_dispatch **kernel, pagedrt_output_spec *output) {
  pagedrt_status status = usable_and_prepared(scratch);
  if (status != PAGEDRT_OK) return status;
  if (kernel == NULL || output == NULL) {
    return error_set(PAGEDRT_INVALID_INPUT, "%s: NULL, expected a place for it", kernel == NULL ? "kernel" : "output");
  }
  scratch_reduce(scratch, kernel, output);
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_scratch_update(pagedrt_scratch *scratch, const pagedrt_slice slices[3], pagedrt_slice output) {
  static const char *const names[3] = {"partials", "sums", "maximums"};
  pagedrt_status status = usable_and_prepared(scratch);
  if (status != PAGEDRT_OK) return status;
  if (slices == NULL) return error_set(PAGEDRT_INVALID_INPUT, "slices: NULL, expected partials, sums and maximums");
  const pagedrt_scratch_spec *spec = &scratch->spec;
  size_t row = (size_t)spec->query_heads * spec->blocks * sizeof(float);
  for (int i = 0; i < 3 && status == PAGEDRT_OK; i++) {
    status = check_slice(scratch, slices[i], names[i], i == 0 ? row * spec->head_dim : row, sizeof(float), true);
  }
  size_t element = dtype_size(spec->dtype), length = (size_t)spec->query_heads * spec->head_dim * element;
  if (status == PAGEDRT_OK) status = check_slice(scratch, output, "output", length, element, true);
  if (status == PAGEDRT_OK) scratch_update(scratch, slices, output);
  return status;
}
