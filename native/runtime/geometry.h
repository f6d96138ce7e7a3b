/* How a kernel is laid over a device: query heads a SIMD-group, SIMD-groups a threadgroup. */
#ifndef PAGEDRT_RUNTIME_GEOMETRY_H
#define PAGEDRT_RUNTIME_GEOMETRY_H

#include "device.h"
#include "kernels.h"

/* Query heads of one KV head that a SIMD-group serves: 1, 2, 4 or 8. */
uint32_t pick_heads(uint32_t simd_width, uint32_t group_factor);
/* Bytes of threadgroup memory the kernels need: each SIMD-group's accumulator, sum and maximum. */
uint32_t threadgroup_memory(uint32_t simdgroups, uint32_t head_dim);
/* Whether the pipeline and the device allow this many SIMD-groups a threadgroup. */
bool simdgroups_legal(const pagedrt_device *device, const pipeline *pipeline, uint32_t simdgroups, uint32_t head_dim);
/* 0 when not even one is legal. */
uint32_t pick_simdgroups(const pagedrt_device *device, const pipeline *pipeline, uint32_t head_dim);

#endif
