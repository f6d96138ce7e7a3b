/* Page-aligned memory of buffers. Small pieces are kept for the next buffer: mapping one costs more than a
 * short attention call. What a piece holds is not defined, as on Metal. */
#ifndef SOFTMETAL_MAPPINGS_H
#define SOFTMETAL_MAPPINGS_H

#include <stddef.h>

/* bytes: a multiple of the memory page. NULL when memory runs out. */
void *softmetal_mapping_take(size_t bytes);
void softmetal_mapping_give(void *pointer, size_t bytes);

#endif
