#ifndef SOFTMETAL_COMPILE_OPTIONS_H
#define SOFTMETAL_COMPILE_OPTIONS_H

#import <Metal/Metal.h>
#include <stdbool.h>

/* Whether infinities and NaN are kept and functions are precise, as in the kernels compiled ahead of time. */
bool softmetal_options_safe(MTLCompileOptions *options);

#endif
