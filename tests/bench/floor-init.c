/* The floor: the least that an init can do, without a libc. Blocks all signals,
 * starts argv[1] (a path) by vfork in a group of its own, reaps with a bare
 * wait4 loop, and as PID 1 ends the rest with one kill and the same loop. It
 * forwards nothing and explains nothing. With PADDING (bytes) the file is
 * longer, and one page of data is written to. */
#include "floor.h"

enum { SIGNAL_TERM = 15, SET_MASK = 2, WAIT_ALL = 0x40000000 };

#ifdef PADDING
static const char padding[PADDING] __attribute__((used)) = {1};
static volatile char data[4096];
#endif

void floor_main(long *stack) {
  char **argv = (char **)(stack + 1);
  char **envp = argv + stack[0] + 1;
  unsigned long all = ~0UL, old = 0;
  int wstatus = 0;
#ifdef PADDING
  data[0] = 1;
#endif

  floor_call(SYS_rt_sigprocmask, SET_MASK, (long)&all, (long)&old, 8);
  long program = floor_call(SYS_vfork, 0, 0, 0, 0);
  if (program == 0) {
    floor_call(SYS_setpgid, 0, 0, 0, 0);
    floor_call(SYS_rt_sigprocmask, SET_MASK, (long)&old, 0, 8);
    floor_call(SYS_execve, (long)argv[1], (long)(argv + 1), (long)envp, 0);
    floor_exit(127);
  }

  long pid;
  do {
    pid = floor_call(SYS_wait4, -1, (long)&wstatus, WAIT_ALL, 0);
  } while (pid > 0 && pid != program);

  if (floor_call(SYS_getpid, 0, 0, 0, 0) == 1) {
    floor_call(SYS_kill, -1, SIGNAL_TERM, 0, 0);
    while (floor_call(SYS_wait4, -1, 0, WAIT_ALL, 0) > 0)
      ;
  }
  floor_exit(wstatus >> 8 & 255);
}
