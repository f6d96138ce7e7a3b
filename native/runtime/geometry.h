/* How a kernel is laid over a device: query heads a SIMD-group, SIMD-groups a threadgroup. */
#ifndef PAGEDRT_RUNTIME_GEOMETRY_H
#define PAGEDRT_RUNTIME_GEOMETRY_H

#include "device.h"
#include "kernels.h"

/* Query heads of one KV head that a SIMD-group serves: 1, 2, 4 or 8. */
uint32_t pick_heads(const pagedrt_device *device, const kernel_instance *instance, const pagedrt_geometry *geometry);
/* What a threadgroup of `wanted` SIMD-groups needs in `bytes`; false where pipeline and device do not allow so many. */
bool simdgroups_fit(const pagedrt_device *device, const kernel_instance *instance, const pipeline *pipeline, const pagedrt_geometry *geometry, uint32_t heads, uint32_t wanted, uint32_t *bytes);
/* 0 when the pipeline and the device do not even allow one; `bytes`: the threadgroup memory that the kernel needs. */
uint32_t pick_simdgroups(const pagedrt_device *device, const kernel_instance *instance, const pipeline *pipeline, const pagedrt_geometry *geometry, uint32_t heads, uint32_t *bytes);
MTLSize pick_grid(const pagedrt_device *device, kernel_kind kind, const pagedrt_geometry *geometry, uint32_t blocks, uint32_t heads);

#endif
