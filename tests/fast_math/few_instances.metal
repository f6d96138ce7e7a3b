// A shader library of fewer instances, which take less time to compile.
#include "instances.h"
#undef PAGEDRT_DIMS_TO_256
#define PAGEDRT_DIMS_TO_256(X, name) PAGEDRT_DTYPES(X, name, 64)
#include LIBRARY
