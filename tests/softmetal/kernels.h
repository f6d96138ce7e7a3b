/* Tiny kernels at SIMD width 1, registered as shaders are. */
#ifndef SOFTMETAL_TEST_KERNELS_H
#define SOFTMETAL_TEST_KERNELS_H

#include <stdint.h>

/* "add"       buffer 0 float[]: element of the threadgroup += buffer 1 float
 * "position"  buffer 0 uint32[3] per threadgroup, x first: its position; buffer 1 uint32[2]: grid width, height
 * "constants" constants 0 and 1; buffer 0 uint64[2]: their values
 * "gate"      buffer 0 uint32[2]: waits until [0] is not 0, then sets [1] to 1
 * "append"    buffer 0 uint32[]: [++[0]] = buffer 1 uint32
 * "series"    buffer 0 float[]: element of the threadgroup = a float sum over buffer 1 uint32 terms
 * "memory"    buffer 0 uint32[]: element of the threadgroup = 1 if all 32768 bytes of threadgroup memory hold
 * "nothing"   no buffers */
#define TEST_SOURCE "kernels of the tests, \xc3\xa9\xf0\x9f\x98\x80"
/* Registered for three instruction sets; "level" writes 1 baseline, 2 avx2, 3 avx512 to buffer 0 uint32. */
#define TEST_LEVELS_SOURCE "kernels by instruction set"
/* Registered for SIMD width 32 alone. */
#define TEST_WIDE_SOURCE "kernels of another width"

#endif
