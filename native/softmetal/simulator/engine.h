/* What the hooks that the compiler plants in a kernel call. */
#ifndef SOFTMETAL_SIMULATOR_ENGINE_H
#define SOFTMETAL_SIMULATOR_ENGINE_H

#include "memory.h"

/* Called by a simulated thread before it touches memory; does not return from an illegal access. */
void engine_access(const void *address, size_t length, memory_access access);

#endif
