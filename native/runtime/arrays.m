#include "arrays.h"

#include <string.h>

#include "device.h"

bool array_aligned(const pagedrt_device *device, int array, const void *pointer) {
  bool vectors = device->simd_width > 1 && array <= ARRAY_VALUES;
  return !vectors || (uintptr_t)pointer % LANE_LOAD_BYTES == 0;
}

static void find_live(pagedrt_device *device, const call_arrays *arrays, resolved_arrays *resolved) {
  memory_map_read(&device->map);
  for (int i = 0; i < ARRAYS; i++) {
    pagedrt_buffer *buffer = memory_map_find(&device->map, arrays->pointers[i], arrays->lengths[i], i == ARRAY_OUT);
    if (!array_aligned(device, i, arrays->pointers[i])) buffer = NULL;
    if (buffer != NULL) object_retain(buffer);
    resolved->buffers[i] = buffer;
    resolved->pointers[i] = arrays->pointers[i];
  }
  memory_map_done(&device->map);
}

static bool whole_pages(const pagedrt_device *device, const void *pointer, size_t length) {
  return (uintptr_t)pointer % device->memory_page == 0 && length % device->memory_page == 0;
}

static pagedrt_status copy_array(pagedrt_device *device, const void *pointer, size_t length, bool out, pagedrt_buffer **copy) {
  pagedrt_status status = buffer_new(device, length, copy);
  if (status != PAGEDRT_OK) return status;
  if (out) {
    (*copy)->destination = (void *)pointer;
  } else {
    memcpy((*copy)->pointer, pointer, length);
  }
  pagedrt_device_count_copy(device, length);
  return PAGEDRT_OK;
}

static pagedrt_status make_temporary(pagedrt_device *device, int array, const void *pointer, size_t length, pagedrt_buffer **made) {
  bool out = array == ARRAY_OUT;
  if (out ? whole_pages(device, pointer, length) : array_aligned(device, array, pointer)) {
    if (buffer_new_wrapping(device, (void *)pointer, length, out, made) == PAGEDRT_OK) return PAGEDRT_OK;
  }
  return copy_array(device, pointer, length, out, made);
}

pagedrt_status arrays_resolve(pagedrt_device *device, const call_arrays *arrays, resolved_arrays *resolved) {
  resolved->temporaries = NULL;
  find_live(device, arrays, resolved);
  for (int i = 0; i < ARRAYS; i++) {
    if (resolved->buffers[i] != NULL) continue;
    pagedrt_buffer *made = NULL;
    pagedrt_status status = make_temporary(device, i, arrays->pointers[i], arrays->lengths[i], &made);
    if (status != PAGEDRT_OK) {
      arrays_release(resolved);
      return status;
    }
    made->next = resolved->temporaries;
    resolved->temporaries = made;
    object_retain(made);
    resolved->buffers[i] = made;
    resolved->pointers[i] = made->wrapped ? arrays->pointers[i] : made->pointer;
  }
  return PAGEDRT_OK;
}

void arrays_release(resolved_arrays *resolved) {
  for (int i = 0; i < ARRAYS; i++) object_release(resolved->buffers[i]);
  pagedrt_buffer *buffer = resolved->temporaries;
  while (buffer != NULL) {
    pagedrt_buffer *next = buffer->next;
    object_release(buffer);
    buffer = next;
  }
}

bool arrays_bounce_out(pagedrt_device *device, const call_arrays *arrays) {
  const void *out = arrays->pointers[ARRAY_OUT];
  size_t length = arrays->lengths[ARRAY_OUT];
  return !whole_pages(device, out, length) && !pagedrt_device_owns(device, out, length, true);
}
