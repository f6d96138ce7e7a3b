#include "execution/instruction_sets.h"

static const char *const all[] = {"avx512_bf16", "avx512", "avx2", "baseline", 0};

#if defined(__x86_64__)
#include <cpuid.h>

/* __builtin_cpu_supports of GCC 12 knows neither f16c nor lzcnt; it does ask the operating system. */
static int has_avx2(void) {
  unsigned a, b, c, d;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0 && (c & bit_MOVBE) != 0 &&
         __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT) != 0;
}

static int has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

const char *const *softmetal_instruction_sets(void) {
  __builtin_cpu_init();
  if (!has_avx2()) return &all[3];
  if (!has_avx512()) return &all[2];
  return __builtin_cpu_supports("avx512bf16") ? &all[0] : &all[1];
}
#else
const char *const *softmetal_instruction_sets(void) {
  return &all[3];
}
#endif
