#include "geometry.h"

/* Lanes hold a row's accumulators in registers; a width-1 device keeps them in its first cache. */
static uint32_t most_heads(uint32_t simd_width) {
  return simd_width == 1 ? 8 : 4;
}

uint32_t pick_heads(uint32_t simd_width, uint32_t group_factor) {
  uint32_t heads = 1;
  while (heads < group_factor && heads < most_heads(simd_width)) heads *= 2;
  return heads;
}

uint32_t threadgroup_memory(uint32_t simdgroups, uint32_t head_dim) {
  uint32_t bytes = simdgroups * (head_dim + 3) * (uint32_t)sizeof(float);
  return (bytes + 15) / 16 * 16;
}

bool simdgroups_legal(const pagedrt_device *device, const pipeline *pipeline, uint32_t simdgroups, uint32_t head_dim) {
  uint32_t threads = simdgroups * pipeline->simd_width;
  return simdgroups >= 1 && threads <= pipeline->max_threads &&
         threadgroup_memory(simdgroups, head_dim) + pipeline->static_memory <= device->max_threadgroup_memory;
}

uint32_t pick_simdgroups(const pagedrt_device *device, const pipeline *pipeline, uint32_t head_dim) {
  uint32_t simdgroups = pipeline->simd_width == 1 ? 1 : 8;
  while (simdgroups > 0 && !simdgroups_legal(device, pipeline, simdgroups, head_dim)) simdgroups--;
  return simdgroups;
}
