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

#define NSIntegerMax LONG_MAX
#define NSUIntegerMax ULONG_MAX

#endif
