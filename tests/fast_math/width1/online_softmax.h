// exponential() stands for a builtin of Metal's: see metal_stdlib.
#include "width1/vector.h"
#pragma GCC push_options
#pragma GCC optimize("no-fast-math")
#define always_inline noinline // inlined, it would take on its caller's options
#include "width1/exponential.h"
#undef always_inline
#pragma GCC pop_options
#include_next "width1/online_softmax.h"
