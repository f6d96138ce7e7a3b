/* Stand-ins for what Apple's tools compile ahead of time. */
#ifndef SOFTMETAL_METALLIB_H
#define SOFTMETAL_METALLIB_H

#include "metal/library.h"

/* +1. The file holds "MTLB", as Apple's do, and then the text that it was compiled from. */
SoftmetalLibrary *softmetal_metallib_open(SoftmetalDevice *device, NSURL *url, NSError **error);

#endif
