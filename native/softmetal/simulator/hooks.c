/* The functions that -fsanitize=thread plants before every memory access of a kernel. They are defined
 * here instead of libtsan's, and hidden, so that a real ThreadSanitizer elsewhere in the process keeps
 * its own. */
#include "engine.h"

#define ACCESSES(size)                                                                       \
  void __tsan_read##size(void *p);                                                           \
  void __tsan_write##size(void *p);                                                          \
  void __tsan_unaligned_read##size(void *p);                                                 \
  void __tsan_unaligned_write##size(void *p);                                                \
  void __tsan_read##size(void *p) { engine_access(p, size, ACCESS_READ); }                   \
  void __tsan_write##size(void *p) { engine_access(p, size, ACCESS_WRITE); }                 \
  void __tsan_unaligned_read##size(void *p) { engine_access(p, size, ACCESS_READ); }         \
  void __tsan_unaligned_write##size(void *p) { engine_access(p, size, ACCESS_WRITE); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size);
void __tsan_read_range(void *p, size_t size) { engine_access(p, size, ACCESS_READ); }
void __tsan_write_range(void *p, size_t size) { engine_access(p, size, ACCESS_WRITE); }

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

/* Threads take turns on one core: plain operations are atomic. */
uint32_t __tsan_atomic32_load(const volatile uint32_t *p, int order);
int __tsan_atomic32_compare_exchange_weak(volatile uint32_t *p, uint32_t *expected, uint32_t desired, int order, int failure);
uint32_t __tsan_atomic32_load(const volatile uint32_t *p, int order) {
  (void)order;
  engine_access((const void *)p, 4, ACCESS_ATOMIC);
  return *p;
}
int __tsan_atomic32_compare_exchange_weak(volatile uint32_t *p, uint32_t *expected, uint32_t desired, int order, int failure) {
  (void)order;
  (void)failure;
  engine_access((const void *)p, 4, ACCESS_ATOMIC);
  if (*p != *expected) {
    *expected = *p;
    return 0;
  }
  *p = desired;
  return 1;
}

void softmetal_simulator_read(const void *address, size_t length) {
  engine_access(address, length, ACCESS_READ);
}
