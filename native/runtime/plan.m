/* A plan: geometry fixed, dispatches prepared for every split, memory made once. */
#include <stdlib.h>

#include "arrays.h"
#include "check.h"
#include "device.h"
#include "dispatch.h"
#include "errors.h"
#include "fork.h"
#include "scratch.h"
#include "stream.h"

typedef struct plan_split {
  uint32_t context_tokens, blocks;
  pagedrt_dispatch first, reduce; /* one-pass alone where blocks is 0, else partial and reduce */
} plan_split;

struct pagedrt_plan {
  object object;
  pagedrt_device *device;
  pagedrt_geometry geometry;
  pthread_mutex_t lock; /* held while a call that uses memory is encoded; guards what follows */
  bool closed;
  pagedrt_buffer *memory; /* partials, sums, maximums of the largest split; NULL if none needs them */
  binding state[3];
  order_point last; /* the last such call's command buffer */
  uint32_t split_count;
  plan_split splits[];
};

/* --- run ---------------------------------------------------------------------------------------- */

static const plan_split *split_for(const pagedrt_plan *plan, uint32_t context_tokens) {
  const plan_split *split = plan->splits;
  while (split->context_tokens < context_tokens) split++;
  return split;
}

/* Called with the memory map's read lock held. */
static pagedrt_status find_arrays(pagedrt_device *device, const call_arrays *arrays, pagedrt_buffer *buffers[ARRAYS]) {
  for (int i = 0; i < ARRAYS; i++) {
    buffers[i] = memory_map_find(&device->map, arrays->pointers[i], arrays->lengths[i], i == ARRAY_OUT);
    if (buffers[i] == NULL) {
      return error_set(PAGEDRT_INVALID_INPUT, "%s: %p + %zu bytes, expected to lie in one live%s buffer of the device",
                       array_names[i], arrays->pointers[i], arrays->lengths[i], i == ARRAY_OUT ? " writable" : "");
    }
    if (!array_aligned(device, i, arrays->pointers[i])) {
      return error_set(PAGEDRT_INVALID_INPUT, "%s: data at %p, expected alignment to %d bytes", array_names[i],
                       arrays->pointers[i], LANE_LOAD_BYTES);
    }
  }
  return PAGEDRT_OK;
}

static void encode(const pagedrt_plan *plan, const plan_split *split, const call_site *site, const call_arrays *arrays, pagedrt_buffer *const buffers[ARRAYS]) {
  binding bindings[ARRAY_INPUTS + 4];
  for (int i = 0; i < ARRAY_INPUTS; i++) bindings[i] = buffer_binding(buffers[i], arrays->pointers[i]);
  binding out = buffer_binding(buffers[ARRAY_OUT], arrays->pointers[ARRAY_OUT]);
  if (split->blocks == 0) {
    bindings[ARRAY_OUT] = out;
    dispatch_encode(&split->first, site, bindings, ARRAYS);
    return;
  }
  for (int i = 0; i < 3; i++) bindings[ARRAY_INPUTS + i] = plan->state[i];
  bindings[ARRAY_INPUTS + 3] = bindings[ARRAY_DEPENDENCY];
  dispatch_encode(&split->first, site, bindings, ARRAY_INPUTS + 4);
  dispatch_encode(&split->reduce, site, (binding[4]){plan->state[0], plan->state[1], plan->state[2], out}, 4);
}

/* The number of the call's command buffer in *serial. */
static pagedrt_status submit(pagedrt_plan *plan, const plan_split *split, const pagedrt_call *call, const call_arrays *arrays, pagedrt_stream *stream, const order_point *after, uint64_t *serial) {
  memory_map *map = &plan->device->map;
  pagedrt_buffer *buffers[ARRAYS];
  call_site site = {.page_capacity = call->page_capacity, .context_tokens = call->context_tokens};
  pagedrt_status status = stream_begin(stream, after, &site);
  if (status != PAGEDRT_OK) return status;
  memory_map_read(map);
  status = find_arrays(plan->device, arrays, buffers);
  if (status == PAGEDRT_OK) {
    encode(plan, split, &site, arrays, buffers);
    call_record record = call_record_make(call, buffers, arrays->pointers);
    *serial = stream_end(stream, &record, NULL, split->blocks != 0);
  } else {
    stream_abandon(stream);
  }
  memory_map_done(map);
  return status;
}

static pagedrt_status plan_open(const pagedrt_plan *plan) {
  return flag_get(&plan->closed) ? error_set(PAGEDRT_DEVICE_ERROR, "plan is closed") : PAGEDRT_OK;
}

static pagedrt_status run(pagedrt_plan *plan, const pagedrt_call *call, const call_arrays *arrays, pagedrt_stream *stream) {
  const plan_split *split = split_for(plan, call->context_tokens);
  uint64_t serial;
  pagedrt_status status;
  if (split->blocks == 0) {
    status = submit(plan, split, call, arrays, stream, NULL, &serial);
    if (status == PAGEDRT_OK) count_up(&plan->device->counters.one_pass, 1);
  } else {
    pthread_mutex_lock(&plan->lock);
    status = plan_open(plan); /* another thread may have closed it */
    if (status == PAGEDRT_OK) {
      const order_point *after = order_pending(&plan->last, stream) ? &plan->last : NULL;
      status = submit(plan, split, call, arrays, stream, after, &serial);
    }
    if (status == PAGEDRT_OK) order_move(&plan->last, stream, serial);
    pthread_mutex_unlock(&plan->lock);
    if (status == PAGEDRT_OK) count_up(&plan->device->counters.two_pass, 1);
  }
  if (status == PAGEDRT_OK) count_up(&plan->device->counters.dispatches, split->blocks == 0 ? 1 : 2);
  return status;
}

static pagedrt_status run_and_wait(pagedrt_plan *plan, const pagedrt_call *call, const call_arrays *arrays) {
  pagedrt_stream *stream = NULL;
  pagedrt_status status = stream_borrow(plan->device, &stream);
  if (status != PAGEDRT_OK) return status;
  status = run(plan, call, arrays, stream);
  if (status == PAGEDRT_OK) status = stream_finish(stream);
  stream_give_back(stream);
  return status;
}

static pagedrt_status plan_usable(pagedrt_plan *plan) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (plan == NULL) return error_set(PAGEDRT_INVALID_INPUT, "plan: NULL, expected a plan");
  status = plan_open(plan);
  return status == PAGEDRT_OK ? device_usable(plan->device) : status;
}

pagedrt_status pagedrt_plan_run(pagedrt_plan *plan, const pagedrt_call *call, pagedrt_stream *stream) {
  call_arrays arrays;
  pagedrt_status status = plan_usable(plan);
  if (status == PAGEDRT_OK) status = check_call(&plan->geometry, call, &arrays);
  if (status != PAGEDRT_OK) return status;
  uint32_t limit = plan->splits[plan->split_count - 1].context_tokens;
  if (call->context_tokens > limit) {
    return error_set(PAGEDRT_INVALID_INPUT, "context_tokens: %u, expected at most the plan's %u", call->context_tokens, limit);
  }
  if (stream != NULL && stream->device != plan->device) {
    return error_set(PAGEDRT_INVALID_INPUT, "stream: of another device, expected the plan's");
  }
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  status = stream != NULL ? run(plan, call, &arrays, stream) : run_and_wait(plan, call, &arrays);
  [pool drain];
  return status;
}

/* --- life --------------------------------------------------------------------------------------- */

static void plan_dispose(void *self) {
  pagedrt_plan *plan = self;
  object_release(plan->memory);
  object_release(plan->last.stream);
  pthread_mutex_destroy(&plan->lock);
  object_release(plan->device);
  free(plan);
}

static pagedrt_status check_splits(const pagedrt_geometry *geometry, const pagedrt_split *splits, uint32_t count) {
  if (splits == NULL || count == 0) return error_set(PAGEDRT_INVALID_INPUT, "splits: none, expected at least 1");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t former = i > 0 ? splits[i - 1].context_tokens : 0;
    if (splits[i].context_tokens <= former) {
      return error_set(PAGEDRT_INVALID_INPUT, "splits[%u].context_tokens: %u, expected more than %u", i,
                       splits[i].context_tokens, former);
    }
    pagedrt_status status = check_layout(geometry, &splits[i].layout);
    if (status != PAGEDRT_OK) return status;
  }
  return PAGEDRT_OK;
}

static pagedrt_status prepare_splits(pagedrt_plan *plan, const pagedrt_split *splits) {
  pagedrt_device *device = plan->device;
  const pagedrt_geometry *geometry = &plan->geometry;
  pagedrt_status status = PAGEDRT_OK;
  for (uint32_t i = 0; i < plan->split_count && status == PAGEDRT_OK; i++) {
    plan_split *split = &plan->splits[i];
    const pagedrt_layout *layout = &splits[i].layout;
    split->context_tokens = splits[i].context_tokens;
    split->blocks = layout->blocks;
    if (layout->blocks == 0) {
      status = dispatch_prepare(device, KERNEL_one_pass, geometry, layout, &split->first);
    } else {
      status = dispatch_prepare(device, KERNEL_partial, geometry, layout, &split->first);
      if (status == PAGEDRT_OK) status = dispatch_prepare(device, KERNEL_reduce, geometry, layout, &split->reduce);
    }
  }
  return status;
}

static pagedrt_status allocate(pagedrt_plan *plan) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < plan->split_count; i++) {
    if (plan->splits[i].blocks > most) most = plan->splits[i].blocks;
  }
  if (most == 0) return PAGEDRT_OK;
  scratch_layout layout = scratch_lay_out(plan->geometry.query_heads, most, plan->geometry.head_dim);
  pagedrt_status status = buffer_new(plan->device, layout.length, &plan->memory);
  if (status != PAGEDRT_OK) return status;
  size_t offsets[3] = {0, layout.sums, layout.maximums};
  for (int i = 0; i < 3; i++) plan->state[i] = slice_binding((pagedrt_slice){plan->memory, offsets[i]});
  return PAGEDRT_OK;
}

pagedrt_status pagedrt_plan_create(pagedrt_device *device, const pagedrt_geometry *geometry, const pagedrt_split *splits, uint32_t split_count, pagedrt_plan **out) {
  pagedrt_status status = device_usable(device);
  if (status == PAGEDRT_OK) status = check_geometry(geometry);
  if (status == PAGEDRT_OK) status = check_splits(geometry, splits, split_count);
  if (status != PAGEDRT_OK) return status;
  if (out == NULL) return error_set(PAGEDRT_INVALID_INPUT, "plan: NULL, expected a place for the handle");
  pagedrt_plan *plan = calloc(1, sizeof *plan + split_count * sizeof plan->splits[0]);
  if (plan == NULL || pthread_mutex_init(&plan->lock, NULL) != 0) {
    free(plan);
    return error_set(PAGEDRT_OUT_OF_MEMORY, "plan: no memory for its handle");
  }
  object_init(&plan->object, plan_dispose);
  object_retain(device);
  plan->device = device;
  plan->geometry = *geometry;
  plan->split_count = split_count;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  status = prepare_splits(plan, splits);
  if (status == PAGEDRT_OK) status = allocate(plan);
  if (status == PAGEDRT_OK) {
    *out = plan;
  } else {
    object_release(plan);
  }
  [pool drain];
  return status;
}

pagedrt_status pagedrt_plan_close(pagedrt_plan *plan) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (plan == NULL) return error_set(PAGEDRT_INVALID_INPUT, "plan: NULL, expected a plan");
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  pthread_mutex_lock(&plan->lock);
  flag_set(&plan->closed);
  pagedrt_buffer *memory = plan->memory;
  plan->memory = NULL;
  pthread_mutex_unlock(&plan->lock);
  object_release(memory); /* command buffers hold what they use */
  [pool drain];
  return PAGEDRT_OK;
}

void pagedrt_plan_destroy(pagedrt_plan *plan) {
  if (plan == NULL || fork_happened()) return;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  object_release(plan);
  [pool drain];
}
