#include "kernels.h"

#include <string.h>

#include "errors.h"
#include "fork.h"

#define DTYPE_f32 PAGEDRT_FLOAT32
#define DTYPE_f16 PAGEDRT_FLOAT16
#define DTYPE_bf16 PAGEDRT_BFLOAT16
#define INSTANCE(name, head_dim, suffix) \
  {KERNEL_##name, head_dim, DTYPE_##suffix, PAGEDRT_KERNEL_NAME(name, head_dim, suffix)},
#define MICRO_INSTANCE(name, work) {KERNEL_micro, 0, PAGEDRT_FLOAT32, PAGEDRT_MICRO_NAME(name)},

const kernel_instance kernel_instances[KERNEL_INSTANCES] = {
  PAGEDRT_ONE_PASS_INSTANCES(INSTANCE)
  PAGEDRT_PARTIAL_INSTANCES(INSTANCE)
  PAGEDRT_REDUCE_INSTANCES(INSTANCE)
  PAGEDRT_MICRO_INSTANCES(MICRO_INSTANCE)
};

const char *const kernel_library_names[KERNEL_KINDS] = {"sdpa_one_pass", "sdpa_partial", "sdpa_reduce", "micro"};

const kernel_instance *kernel_find(kernel_kind kind, uint32_t head_dim, pagedrt_dtype dtype) {
  const kernel_instance *any = NULL;
  for (uint32_t i = 0; i < KERNEL_INSTANCES; i++) {
    const kernel_instance *instance = &kernel_instances[i];
    if (instance->kind != kind || instance->dtype != dtype) continue;
    if (instance->head_dim == head_dim) return instance;
    if (instance->head_dim == 0 && head_dim <= PAGEDRT_MAX_HEAD_DIM) any = instance;
  }
  return any;
}

const kernel_instance *kernel_find_micro(const char *name) {
  for (uint32_t i = 0; i < KERNEL_INSTANCES; i++) {
    const kernel_instance *instance = &kernel_instances[i];
    if (instance->kind == KERNEL_micro && strcmp(instance->name, name) == 0) return instance;
  }
  return NULL;
}

bool dtype_known(pagedrt_dtype dtype) {
  return dtype == PAGEDRT_FLOAT32 || dtype == PAGEDRT_FLOAT16 || dtype == PAGEDRT_BFLOAT16;
}

const char *dtype_name(pagedrt_dtype dtype) {
  switch (dtype) {
    case PAGEDRT_FLOAT32: return "float32";
    case PAGEDRT_FLOAT16: return "float16";
    case PAGEDRT_BFLOAT16: return "bfloat16";
  }
  return "unknown";
}

uint32_t dtype_size(pagedrt_dtype dtype) {
  return dtype == PAGEDRT_FLOAT32 ? 4 : 2;
}

pagedrt_status pagedrt_partial_function(uint32_t head_dim, pagedrt_dtype dtype, const char **function) {
  pagedrt_status status = fork_check();
  if (status != PAGEDRT_OK) return status;
  if (function == NULL) return error_set(PAGEDRT_INVALID_INPUT, "function: NULL, expected a place for the name");
  const kernel_instance *instance = kernel_find(KERNEL_partial, head_dim, dtype);
  if (instance == NULL) {
    return error_set(PAGEDRT_INVALID_INPUT,
                     "head_dim %u, dtype %s (%d): no partial kernel, expected head_dim a multiple of 32 up to 256 and "
                     "dtype float32, float16 or bfloat16",
                     head_dim, dtype_name(dtype), (int)dtype);
  }
  *function = instance->name;
  return PAGEDRT_OK;
}
