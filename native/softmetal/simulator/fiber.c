#define _GNU_SOURCE
#include "fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* swapcontext() makes two system calls a switch; a dispatch switches millions of times. Callee-saved
 * registers are all that a switch at a call must keep. */
void softmetal_fiber_swap(void **from, void *to) __attribute__((visibility("hidden")));
void softmetal_fiber_start(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
enum { SAVED_WORDS = 7, ENTRY_WORD = 1, ARGUMENT_WORD = 0 }; /* r15 r14 r13 r12 rbx rbp return */
__asm__(".text\n"
        ".hidden softmetal_fiber_swap\n.globl softmetal_fiber_swap\n"
        ".type softmetal_fiber_swap, @function\n"
        "softmetal_fiber_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size softmetal_fiber_swap, .-softmetal_fiber_swap\n"
        ".hidden softmetal_fiber_start\n.globl softmetal_fiber_start\n"
        ".type softmetal_fiber_start, @function\n"
        "softmetal_fiber_start:\n"
        "  movq %r15, %rdi\n"
        "  call *%r14\n"
        "  ud2\n"
        ".size softmetal_fiber_start, .-softmetal_fiber_start\n");
#elif defined(__aarch64__)
enum { SAVED_WORDS = 20, ENTRY_WORD = 1, ARGUMENT_WORD = 0, RETURN_WORD = 11 };
__asm__(".text\n"
        ".hidden softmetal_fiber_swap\n.globl softmetal_fiber_swap\n"
        ".type softmetal_fiber_swap, %function\n"
        "softmetal_fiber_swap:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size softmetal_fiber_swap, .-softmetal_fiber_swap\n"
        ".hidden softmetal_fiber_start\n.globl softmetal_fiber_start\n"
        ".type softmetal_fiber_start, %function\n"
        "softmetal_fiber_start:\n"
        "  mov x0, x19\n"
        "  blr x20\n"
        "  brk #1\n"
        ".size softmetal_fiber_start, .-softmetal_fiber_start\n");
#endif

static size_t stride(void) {
  return FIBER_STACK + (size_t)sysconf(_SC_PAGESIZE);
}

char *fiber_stacks_create(size_t count) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *stacks = mmap(NULL, count * stride(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) {
    return NULL;
  }
  for (size_t i = 0; i < count; ++i) {
    if (mprotect(stacks + i * stride(), page, PROT_NONE) != 0) {
      munmap(stacks, count * stride());
      return NULL;
    }
  }
  return stacks;
}

void fiber_stacks_destroy(char *stacks, size_t count) {
  if (stacks != NULL) {
    munmap(stacks, count * stride());
  }
}

void fiber_prepare(fiber *f, char *stacks, size_t index, void (*entry)(void *), void *argument) {
  f->stack = stacks + index * stride() + (stride() - FIBER_STACK);
  void **top = (void **)(f->stack + FIBER_STACK);
#if defined(__x86_64__)
  top -= 2; /* the ABI wants rsp 8 past a multiple of 16 at the first instruction of start */
  top[-1] = (void *)(uintptr_t)softmetal_fiber_start;
  void **saved = top - SAVED_WORDS;
#else
  void **saved = top - SAVED_WORDS;
  saved[RETURN_WORD] = (void *)(uintptr_t)softmetal_fiber_start;
#endif
  saved[ENTRY_WORD] = (void *)(uintptr_t)entry;
  saved[ARGUMENT_WORD] = argument;
  f->stack_pointer = saved;
}

void fiber_switch(fiber *from, fiber *to) {
  softmetal_fiber_swap(&from->stack_pointer, to->stack_pointer);
}
