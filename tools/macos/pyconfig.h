/* What CPython's public headers ask of pyconfig.h, answered for macOS on arm64 (64 bits, little-endian, clang and
 * Darwin's libc). For CPython 3.11 to 3.14; a test checks that no question is left out. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define ALIGNOF_MAX_ALIGN_T 8
#define DOUBLE_IS_LITTLE_ENDIAN_IEEE754 1
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_DOUBLE 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_PID_T 4
#define SIZEOF_PTHREAD_T 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_UINTPTR_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 4
#define SIZEOF__BOOL 1

#define HAVE_CLOCK_GETTIME 1
#define HAVE_FORK 1
#define HAVE_KQUEUE 1
#define HAVE_LANGINFO_H 1
#define HAVE_PTHREAD_H 1
#define HAVE_SSIZE_T 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define PY_FORMAT_SIZE_T "z"
#define WITH_DOC_STRINGS 1
#define WITH_MIMALLOC 1
#define WITH_PYMALLOC 1

/* #undef ALT_SOABI */
/* #undef DOUBLE_IS_ARM_MIXED_ENDIAN_IEEE754 */
/* #undef DOUBLE_IS_BIG_ENDIAN_IEEE754 */
/* #undef HAVE_ALIGNED_REQUIRED */
/* #undef HAVE_GCC_ASM_FOR_X64 */
/* #undef HAVE_GCC_ASM_FOR_X87 */
/* #undef HAVE_IEEEFP_H */
/* #undef HAVE_LARGEFILE_SUPPORT */
/* #undef HAVE_PTHREAD_STUBS */
/* #undef HAVE_SYS_TERMIO_H */
/* #undef HAVE_USABLE_WCHAR_T */
/* #undef HAVE__GETPTY */
/* #undef PYLONG_BITS_IN_DIGIT */
/* #undef Py_DEBUG */
/* #undef Py_ENABLE_SHARED */
/* #undef Py_GIL_DISABLED */
/* #undef Py_HASH_ALGORITHM */
/* #undef Py_STATS */
/* #undef Py_TRACE_REFS */
/* #undef SETPGRP_HAVE_ARG */
/* #undef SIGNED_RIGHT_SHIFT_ZERO_FILLS */
/* #undef WITH_DTRACE */
/* #undef WORDS_BIGENDIAN */
/* #undef _POSIX_THREADS */

#endif
