/* GCC looks a class up by its name wherever code names it: 20 ns that a call's path cannot spare. */
#ifndef SOFTMETAL_CLASS_CACHE_H
#define SOFTMETAL_CLASS_CACHE_H

#import <Foundation/NSObject.h>

#define CACHED_CLASS(name)                                        \
  ({                                                              \
    static void *cached;                                          \
    void *class = __atomic_load_n(&cached, __ATOMIC_ACQUIRE);     \
    if (class == NULL) {                                          \
      class = (void *)[name class];                               \
      __atomic_store_n(&cached, class, __ATOMIC_RELEASE);         \
    }                                                             \
    (Class)class;                                                 \
  })

#endif
