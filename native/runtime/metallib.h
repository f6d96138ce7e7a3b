/* Libraries that Apple's compiler made when pagedrt was built. */
#ifndef PAGEDRT_METALLIB_H
#define PAGEDRT_METALLIB_H

#import <Metal/Metal.h>

/* +1; nil where there is none for this library or it does not load: its text is compiled instead. */
id<MTLLibrary> metallib_load(id<MTLDevice> device, const char *library);

#endif
