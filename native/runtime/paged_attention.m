#include <string.h>

#include "arrays.h"
#include "check.h"
#include "device.h"
#include "dispatch.h"
#include "errors.h"
#include "scratch.h"
#include "stream.h"

static pagedrt_status run_one_pass(pagedrt_stream *stream, const pagedrt_geometry *geometry, const pagedrt_layout *layout, const pagedrt_call *call, resolved_arrays *arrays) {
  pagedrt_dispatch dispatch;
  pagedrt_status status = dispatch_prepare(stream->device, KERNEL_one_pass, geometry, layout, &dispatch);
  if (status != PAGEDRT_OK) return status;
  call_site site = {.page_capacity = call->page_capacity, .context_tokens = call->context_tokens};
  status = stream_begin(stream, NULL, &site);
  if (status != PAGEDRT_OK) return status;
  binding bindings[ARRAYS];
  for (int i = 0; i < ARRAYS; i++) bindings[i] = arrays_binding(arrays, i);
  dispatch_encode(&dispatch, &site, bindings, ARRAYS);
  call_record record = call_record_make(call, arrays->buffers, arrays->pointers);
  stream_end(stream, &record, arrays->temporaries, false);
  arrays->temporaries = NULL;
  count_up(&stream->device->counters.one_pass, 1);
  count_up(&stream->device->counters.dispatches, 1);
  return PAGEDRT_OK;
}

static void encode_two_pass(const pagedrt_dispatch *partial, const pagedrt_dispatch *reduce, const call_site *site, const pagedrt_slice slices[4], const resolved_arrays *arrays) {
  binding first[ARRAY_INPUTS + 4], second[4];
  for (int i = 0; i < ARRAY_INPUTS; i++) first[i] = arrays_binding(arrays, i);
  for (int i = 0; i < 4; i++) first[ARRAY_INPUTS + i] = slice_binding(slices[i]);
  dispatch_encode(partial, site, first, ARRAY_INPUTS + 4);
  for (int i = 0; i < 3; i++) second[i] = slice_binding(slices[i]);
  second[3] = arrays_binding(arrays, ARRAY_OUT);
  dispatch_encode(reduce, site, second, 4);
}

static pagedrt_slice array_slice(const resolved_arrays *arrays, int array) {
  pagedrt_buffer *buffer = arrays->buffers[array];
  return (pagedrt_slice){buffer, (size_t)((const char *)arrays->pointers[array] - (const char *)buffer->pointer)};
}

/* Called with the scratch's lock held. */
static pagedrt_status run_two_pass(pagedrt_stream *stream, pagedrt_scratch *scratch, const pagedrt_scratch_spec *spec, const pagedrt_call *call, resolved_arrays *arrays) {
  pagedrt_status status = scratch_prepare(scratch, spec, stream);
  if (status != PAGEDRT_OK) return status;
  const pagedrt_dispatch *partial, *reduce;
  pagedrt_slice slices[4];
  pagedrt_output_spec output;
  scratch_partial(scratch, array_slice(arrays, ARRAY_DEPENDENCY), &partial, slices);
  scratch_reduce(scratch, &reduce, &output);
  const order_point *after = order_pending(&scratch->last, stream) ? &scratch->last : NULL;
  call_site site = {.page_capacity = call->page_capacity, .context_tokens = call->context_tokens};
  status = stream_begin(stream, after, &site);
  if (status != PAGEDRT_OK) return status;
  encode_two_pass(partial, reduce, &site, slices, arrays);
  call_record record = call_record_make(call, arrays->buffers, arrays->pointers);
  uint64_t serial = stream_end(stream, &record, arrays->temporaries, !scratch->internal);
  arrays->temporaries = NULL;
  if (!scratch->internal) {
    order_move(&scratch->last, stream, serial);
    scratch_update(scratch, slices, array_slice(arrays, ARRAY_OUT));
  }
  count_up(&stream->device->counters.two_pass, 1);
  count_up(&stream->device->counters.dispatches, 2);
  return PAGEDRT_OK;
}

static pagedrt_scratch_spec spec_of(const pagedrt_geometry *geometry, const pagedrt_layout *layout) {
  pagedrt_scratch_spec spec = {geometry->query_heads, geometry->kv_heads, layout->blocks, geometry->head_dim, geometry->page_size, 0,
                               geometry->dtype, layout->heads, layout->simdgroups};
  memcpy(&spec.scale_bits, &geometry->scale, sizeof spec.scale_bits);
  return spec;
}

static pagedrt_status run(pagedrt_stream *stream, pagedrt_scratch *scratch, const pagedrt_geometry *geometry, const pagedrt_layout *layout, const pagedrt_call *call, const call_arrays *arrays) {
  resolved_arrays resolved;
  /* An output already bounced may be bounced again: they are delivered in order. */
  unsigned settled = arrays_bounce_out(stream->device, arrays) ? ARRAY_INPUTS : ARRAYS;
  stream_settle(stream, arrays->pointers, arrays->lengths, settled);
  pagedrt_status status = arrays_resolve(stream->device, arrays, &resolved);
  if (status != PAGEDRT_OK) return status;
  if (layout->blocks == 0) {
    status = run_one_pass(stream, geometry, layout, call, &resolved);
  } else {
    if (scratch == NULL) status = stream_scratch(stream, &scratch);
    if (status == PAGEDRT_OK) status = scratch_lock(scratch);
    if (status == PAGEDRT_OK) {
      pagedrt_scratch_spec spec = spec_of(geometry, layout);
      status = run_two_pass(stream, scratch, &spec, call, &resolved);
      scratch_unlock(scratch);
    }
  }
  arrays_release(&resolved);
  return status;
}

static pagedrt_status run_and_wait(pagedrt_device *device, pagedrt_scratch *scratch, const pagedrt_geometry *geometry, const pagedrt_layout *layout, const pagedrt_call *call, const call_arrays *arrays) {
  pagedrt_status status = check_contents(geometry, call);
  if (status != PAGEDRT_OK) return status;
  pagedrt_stream *stream = NULL;
  status = stream_borrow(device, &stream);
  if (status != PAGEDRT_OK) return status;
  status = run(stream, scratch, geometry, layout, call, arrays);
  if (status == PAGEDRT_OK) status = stream_finish(stream);
  stream_give_back(stream);
  return status;
}

pagedrt_status pagedrt_paged_attention(pagedrt_device *device, const pagedrt_geometry *geometry, const pagedrt_layout *layout, const pagedrt_call *call, pagedrt_scratch *scratch, pagedrt_stream *stream) {
  static const pagedrt_layout picked = {0};
  call_arrays arrays;
  pagedrt_status status = device_usable(device);
  if (status == PAGEDRT_OK) status = check_geometry(geometry);
  if (layout == NULL) layout = &picked;
  if (status == PAGEDRT_OK) status = check_layout(geometry, layout);
  if (status == PAGEDRT_OK) status = check_call(geometry, call, &arrays);
  if (status != PAGEDRT_OK) return status;
  if (scratch != NULL && scratch->device != device) {
    return error_set(PAGEDRT_INVALID_INPUT, "scratch: of another device, expected this one's");
  }
  if (stream != NULL && stream->device != device) {
    return error_set(PAGEDRT_INVALID_INPUT, "stream: of another device, expected this one's");
  }
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  if (stream != NULL) {
    status = run(stream, scratch, geometry, layout, call, &arrays);
  } else {
    status = run_and_wait(device, scratch, geometry, layout, call, &arrays);
  }
  [pool drain];
  return status;
}
