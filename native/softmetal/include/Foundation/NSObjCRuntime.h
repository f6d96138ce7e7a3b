#ifndef SOFTMETAL_NSOBJCRUNTIME_H
#define SOFTMETAL_NSOBJCRUNTIME_H

#include <limits.h>
#include <objc/objc.h>
#include <objc/runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef double CFTimeInterval;

/* Of a function whose result the caller releases; a method's name says so. */
#ifdef __clang__
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#else
#define NS_RETURNS_RETAINED
#endif

#define NSIntegerMax LONG_MAX
#define NSUIntegerMax ULONG_MAX

#endif
