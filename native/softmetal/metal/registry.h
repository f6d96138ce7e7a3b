/* The libraries that were compiled ahead of time. */
#ifndef SOFTMETAL_REGISTRY_H
#define SOFTMETAL_REGISTRY_H

#include "kernel.h"

/* The library compiled from this text for a SIMD width and the first instruction set of the list
 * (NULL-terminated) that it was compiled for; NULL when there is none. */
const softmetal_library *softmetal_registry_find(const char *source, uint32_t simd_width, const char *const *instruction_sets);

#endif
