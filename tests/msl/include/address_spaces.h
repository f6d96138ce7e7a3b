// MSL's address spaces as clang's. C++ for OpenCL without a generic space has exactly MSL's four, and
// deduces `thread` where MSL does; C++14 has numbered ones, with the default for `thread`. The
// annotation is how the checker sees what was written.
#ifndef PAGEDRT_LINT_ADDRESS_SPACES_H
#define PAGEDRT_LINT_ADDRESS_SPACES_H

#ifdef __OPENCL_CPP_VERSION__
#define device __global
#define constant __constant
#define threadgroup __local
#define thread __private __attribute__((annotate("thread")))
#else
#define device __attribute__((address_space(1)))
#define constant const __attribute__((address_space(2)))
#define threadgroup __attribute__((address_space(3)))
#define thread __attribute__((annotate("thread")))
#endif

#define kernel __attribute__((annotate("kernel")))

#endif
