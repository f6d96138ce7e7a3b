// Scalars and vectors. bfloat converts only by hand and has no arithmetic: M1 and M2 emulate it, and
// what it rounds differs from float.
#ifndef PAGEDRT_LINT_TYPES_H
#define PAGEDRT_LINT_TYPES_H

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef decltype(sizeof(0)) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
typedef signed char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

#ifdef __OPENCL_CPP_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#else
typedef _Float16 half;
#endif
enum class bfloat : ushort {};

#define VECTORS(type)                                     \
  typedef type type##2 __attribute__((ext_vector_type(2))); \
  typedef type type##3 __attribute__((ext_vector_type(3))); \
  typedef type type##4 __attribute__((ext_vector_type(4)));
VECTORS(char)
VECTORS(uchar)
VECTORS(short)
VECTORS(ushort)
VECTORS(int)
VECTORS(uint)
VECTORS(long)
VECTORS(ulong)
VECTORS(half)
VECTORS(float)
#undef VECTORS

// MSL's vector constructors; clang's vectors have none.
#define CONSTRUCTORS(to, from)                              \
  to##2 construct_##to##2(from##2);                         \
  to##3 construct_##to##3(from##3);                         \
  to##4 construct_##to##4(from##4);
#define SCALAR_CONSTRUCTORS(to)                             \
  to##2 construct_##to##2(to);                              \
  to##2 construct_##to##2(to, to);                          \
  to##3 construct_##to##3(to);                              \
  to##3 construct_##to##3(to, to, to);                      \
  to##4 construct_##to##4(to);                              \
  to##4 construct_##to##4(to, to, to, to);                  \
  CONSTRUCTORS(to, int)                                     \
  CONSTRUCTORS(to, uint)                                    \
  CONSTRUCTORS(to, half)                                    \
  CONSTRUCTORS(to, float)
SCALAR_CONSTRUCTORS(int)
SCALAR_CONSTRUCTORS(uint)
SCALAR_CONSTRUCTORS(half)
SCALAR_CONSTRUCTORS(float)
#undef SCALAR_CONSTRUCTORS
#undef CONSTRUCTORS
#define int2(...) construct_int2(__VA_ARGS__)
#define int3(...) construct_int3(__VA_ARGS__)
#define int4(...) construct_int4(__VA_ARGS__)
#define uint2(...) construct_uint2(__VA_ARGS__)
#define uint3(...) construct_uint3(__VA_ARGS__)
#define uint4(...) construct_uint4(__VA_ARGS__)
#define half2(...) construct_half2(__VA_ARGS__)
#define half3(...) construct_half3(__VA_ARGS__)
#define half4(...) construct_half4(__VA_ARGS__)
#define float2(...) construct_float2(__VA_ARGS__)
#define float3(...) construct_float3(__VA_ARGS__)
#define float4(...) construct_float4(__VA_ARGS__)

template <typename To, typename From>
inline To as_type(From) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  return To();
}

#endif
