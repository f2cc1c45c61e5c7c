/* System calls without a libc, x86_64 only: what the floor is built of. */
#ifndef FLOOR_H
#define FLOOR_H

#include <sys/syscall.h>

/* Always inline: a vfork child that returned from here would destroy its
 * parent's frame. */
__attribute__((always_inline)) static inline long
floor_call(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}

/* The kernel leaves argc at the stack pointer, argv above it. */
__asm__(".globl _start\n"
        "_start: mov %rsp, %rdi\n"
        "and $-16, %rsp\n"
        "call floor_main\n");

__attribute__((noreturn)) void floor_main(long *stack);

__attribute__((noreturn)) static inline void floor_exit(int code) {
  for (;;)
    floor_call(SYS_exit_group, code, 0, 0, 0);
}

#endif
