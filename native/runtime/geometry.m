#include "geometry.h"

#include "arguments.h"

/* What a lane of many holds of a row; 32 accumulators a lane keep enough SIMD-groups in flight. */
enum { MOST_ACCUMULATORS = 32, MOST_HEADS = 4 };

static uint32_t lane_elements(const kernel_instance *instance, uint32_t simd_width) {
  if (instance->head_dim == 0) return PAGEDRT_MAX_HEAD_DIM / simd_width;
  return instance->head_dim / PAGEDRT_ROW_LANES(instance->head_dim, dtype_size(instance->dtype));
}

static uint32_t most_heads(const kernel_instance *instance, uint32_t simd_width) {
  if (simd_width == 1) return 8; /* accumulators lie in the first cache */
  if (instance->kind == KERNEL_one_pass) return 1; /* short contexts: more threadgroups, each row from the cache */
  uint32_t heads = MOST_HEADS;
  while (heads > 1 && heads * lane_elements(instance, simd_width) > MOST_ACCUMULATORS) heads /= 2;
  return heads;
}

uint32_t pick_heads(const pagedrt_device *device, const kernel_instance *instance, const pagedrt_geometry *geometry) {
  uint32_t heads = 1, most = most_heads(instance, device->simd_width);
  while (heads < geometry->query_heads / geometry->kv_heads && heads < most) heads *= 2;
  return heads;
}

/* What the kernels keep there: reduce, a total a thread, a maximum and a sum a SIMD-group; the others, where
 * lanes share rows, each thread's settled outputs (one-pass: and what settling lost), then each SIMD-group's
 * outputs, maximum and sum a head and whether its pages are legal. */
static uint32_t threadgroup_memory(const pagedrt_device *device, const kernel_instance *instance, uint32_t simdgroups, const pagedrt_geometry *geometry, uint32_t heads) {
  uint32_t width = device->simd_width, floats;
  if (instance->kind == KERNEL_reduce) {
    floats = width + 2;
  } else if (width == 1) {
    floats = 0;
  } else {
    uint32_t settled = width * lane_elements(instance, width) * (instance->kind == KERNEL_one_pass ? 2 : 1);
    uint32_t finished = geometry->head_dim + 2;
    floats = heads * (settled > finished ? settled : finished) + 1;
  }
  uint32_t bytes = simdgroups * floats * (uint32_t)sizeof(float);
  return bytes > 0 ? (bytes + 15) / 16 * 16 : 16;
}

bool simdgroups_fit(const pagedrt_device *device, const kernel_instance *instance, const pipeline *pipeline, const pagedrt_geometry *geometry, uint32_t heads, uint32_t wanted, uint32_t *bytes) {
  if (wanted > pipeline->max_threads / pipeline->simd_width) return false;
  *bytes = threadgroup_memory(device, instance, wanted, geometry, heads);
  return *bytes + pipeline->static_memory <= device->max_threadgroup_memory;
}

uint32_t pick_simdgroups(const pagedrt_device *device, const kernel_instance *instance, const pipeline *pipeline, const pagedrt_geometry *geometry, uint32_t heads, uint32_t *bytes) {
  static const uint32_t most[KERNEL_KINDS] = {[KERNEL_one_pass] = 16, [KERNEL_partial] = 4, [KERNEL_reduce] = 8};
  for (uint32_t simdgroups = device->simd_width == 1 ? 1 : most[instance->kind]; simdgroups > 0; simdgroups--) {
    if (simdgroups_fit(device, instance, pipeline, geometry, heads, simdgroups, bytes)) return simdgroups;
  }
  return 0;
}

MTLSize pick_grid(const pagedrt_device *device, kernel_kind kind, const pagedrt_geometry *geometry, uint32_t blocks, uint32_t heads) {
  if (kind == KERNEL_reduce) {
    uint32_t span = PAGEDRT_REDUCE_SPAN(device->simd_width);
    return MTLSizeMake(geometry->query_heads, (geometry->head_dim + span - 1) / span, 1);
  }
  uint32_t group_factor = geometry->query_heads / geometry->kv_heads;
  uint32_t tiles = group_factor / heads + (group_factor % heads != 0);
  return MTLSizeMake((NSUInteger)geometry->kv_heads * tiles, kind == KERNEL_partial ? blocks : 1, 1);
}
