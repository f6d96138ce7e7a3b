// One shader library compiled for one SIMD width and instruction set: meson.build gives SHADER (the
// .metal file), SOURCE (the embedded text's symbol), SIMD_WIDTH and INSTRUCTION_SET.
// All of it stands in an unnamed namespace: two translation units with different instruction sets
// must never share an inline function.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "kernel.h"
#if SIMD_WIDTH != 1
#include "simulator/simulator.h"
#endif

extern "C" const char SOURCE[];

// The simulator checks what a kernel touches, not what stands in for Metal.
#define SOFTMETAL_UNCHECKED __attribute__((no_sanitize("thread")))

namespace {

#include "metal_stdlib"

#include "binding.h"

using namespace metal;
#if SIMD_WIDTH == 1
#include "width1/online_softmax.h"
#include "width1/weighted_sum.h"
#endif
#include SHADER

// The last static object: those of binding.h have filled the table.
const struct Registration {
  Registration() {
    library.table.source = SOURCE;
    library.table.instruction_set = INSTRUCTION_SET;
    library.table.simd_width = SIMD_WIDTH;
    library.table.kernels = library.kernels;
    softmetal_register_library(&library.table);
  }
} registration;

} // namespace
