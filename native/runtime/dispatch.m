#include "dispatch.h"

#include "device.h"
#include "errors.h"
#include "geometry.h"

/* dispatch_encode numbers the buffers by their place. */
_Static_assert(PAGEDRT_ONE_PASS_OUT == 5 && PAGEDRT_ONE_PASS_STATUS == 6 && PAGEDRT_ONE_PASS_ARGUMENTS == 7, "");
_Static_assert(PAGEDRT_PARTIAL_BARRIER == 8 && PAGEDRT_PARTIAL_STATUS == 9 && PAGEDRT_PARTIAL_ARGUMENTS == 10, "");
_Static_assert(PAGEDRT_REDUCE_OUT == 3 && PAGEDRT_REDUCE_STATUS == 4 && PAGEDRT_REDUCE_ARGUMENTS == 5, "");

pagedrt_status dispatch_prepare(pagedrt_device *device, kernel_kind kind, const pagedrt_geometry *geometry, const pagedrt_layout *layout, pagedrt_dispatch *dispatch) {
  const kernel_instance *instance = kernel_find(kind, geometry->head_dim, geometry->dtype);
  if (instance == NULL) {
    return error_set(PAGEDRT_INVALID_INPUT, "head_dim %u, dtype %s: %s has no such kernel", geometry->head_dim,
                     dtype_name(geometry->dtype), kernel_library_names[kind]);
  }
  uint32_t heads = 1, wanted = 0, blocks = kind == KERNEL_one_pass ? 1 : layout->blocks;
  if (kind != KERNEL_reduce) {
    heads = layout->heads != 0 ? layout->heads : pick_heads(device, instance, geometry);
    wanted = layout->simdgroups;
  }
  const pipeline *pipeline = NULL;
  pagedrt_status status = pipelines_get(device, instance, heads, &pipeline);
  if (status != PAGEDRT_OK) return status;
  uint32_t memory = 0, simdgroups = wanted;
  if (wanted == 0) {
    simdgroups = pick_simdgroups(device, instance, pipeline, geometry, heads, &memory);
  } else if (!simdgroups_fit(device, instance, pipeline, geometry, heads, wanted, &memory)) {
    return error_set(PAGEDRT_INVALID_INPUT,
                     "simdgroups: %u of %u heads each, expected fewer or 0: a threadgroup of %s may hold %u threads and %u bytes",
                     wanted, heads, instance->name, pipeline->max_threads, device->max_threadgroup_memory);
  }
  if (simdgroups == 0) {
    return error_set(PAGEDRT_DEVICE_ERROR, "%s: a threadgroup may hold %u threads and %u bytes, not enough for one SIMD-group",
                     instance->name, pipeline->max_threads, device->max_threadgroup_memory);
  }
  dispatch->state = pipeline->state;
  dispatch->grid = pick_grid(device, kind, geometry, blocks, heads);
  dispatch->threadgroup = MTLSizeMake((NSUInteger)pipeline->simd_width * simdgroups, 1, 1);
  dispatch->threadgroup_memory = memory;
  dispatch->arguments = (pagedrt_arguments){
    .query_heads = geometry->query_heads,
    .kv_heads = geometry->kv_heads,
    .head_dim = geometry->head_dim,
    .page_size = geometry->page_size,
    .blocks = blocks,
    .scale = geometry->scale,
  };
  return PAGEDRT_OK;
}

void dispatch_encode(const pagedrt_dispatch *dispatch, const call_site *site, const binding *bindings, unsigned count) {
  id<MTLComputeCommandEncoder> encoder = site->encoder;
  pagedrt_arguments arguments = dispatch->arguments;
  arguments.page_capacity = site->page_capacity;
  arguments.context_tokens = site->context_tokens;
  arguments.status = site->slot;
  [encoder setComputePipelineState:dispatch->state];
  for (unsigned i = 0; i < count; i++) [encoder setBuffer:bindings[i].metal offset:bindings[i].offset atIndex:i];
  [encoder setBuffer:site->statuses offset:0 atIndex:count];
  [encoder setBytes:&arguments length:sizeof arguments atIndex:count + 1];
  [encoder setThreadgroupMemoryLength:dispatch->threadgroup_memory atIndex:0];
  [encoder dispatchThreadgroups:dispatch->grid threadsPerThreadgroup:dispatch->threadgroup];
}
