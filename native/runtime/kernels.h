/* The kernels there are: shaders/instances.h as a table. */
#ifndef PAGEDRT_KERNELS_H
#define PAGEDRT_KERNELS_H

#include "instances.h"
#include "pagedrt.h"

typedef enum kernel_kind { KERNEL_one_pass, KERNEL_partial, KERNEL_reduce, KERNEL_micro, KERNEL_KINDS } kernel_kind;

typedef struct kernel_instance {
  kernel_kind kind;
  uint32_t head_dim; /* 0 takes any up to PAGEDRT_MAX_HEAD_DIM */
  pagedrt_dtype dtype; /* neither says anything of a micro kernel */
  const char *name;
} kernel_instance;

#define PAGEDRT_COUNT_INSTANCE(name, head_dim, suffix) +1
#define PAGEDRT_COUNT_MICRO(name, work) +1
enum {
  KERNEL_INSTANCES = 0 PAGEDRT_ONE_PASS_INSTANCES(PAGEDRT_COUNT_INSTANCE)
      PAGEDRT_PARTIAL_INSTANCES(PAGEDRT_COUNT_INSTANCE) PAGEDRT_REDUCE_INSTANCES(PAGEDRT_COUNT_INSTANCE)
      PAGEDRT_MICRO_INSTANCES(PAGEDRT_COUNT_MICRO)
};

extern const kernel_instance kernel_instances[KERNEL_INSTANCES];
extern const char *const kernel_library_names[KERNEL_KINDS];

/* The instance made for head_dim, else the one for any; NULL when there is neither. */
const kernel_instance *kernel_find(kernel_kind kind, uint32_t head_dim, pagedrt_dtype dtype);
/* The micro kernel of that host name, or NULL. */
const kernel_instance *kernel_find_micro(const char *name);
bool dtype_known(pagedrt_dtype dtype);
const char *dtype_name(pagedrt_dtype dtype);
uint32_t dtype_size(pagedrt_dtype dtype);

#endif
