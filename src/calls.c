#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 32-bit machines have two of each; the number without 64 is the old one. */
#ifdef SYS_fcntl64
#define FOSTER_FCNTL SYS_fcntl64
#else
#define FOSTER_FCNTL SYS_fcntl
#endif
#ifdef SYS_clock_gettime64
#define FOSTER_CLOCK SYS_clock_gettime64
#ifdef SYS_clock_gettime32
#define FOSTER_OLD_CLOCK SYS_clock_gettime32 /* as musl calls it */
#else
#define FOSTER_OLD_CLOCK SYS_clock_gettime
#endif
#else
#define FOSTER_CLOCK SYS_clock_gettime
#endif
/* s390 has its arguments in memory. */
#ifdef SYS_mmap2
#define FOSTER_MMAP SYS_mmap2
#elif !defined(__s390__)
#define FOSTER_MMAP SYS_mmap
#endif

int call_openat(int directory, const char *path, int flags) {
  return (int)syscall(SYS_openat, directory, path,
                      flags | O_CLOEXEC | O_LARGEFILE, 0644);
}

int call_open(const char *path, int flags) {
  return call_openat(AT_FDCWD, path, flags);
}

int call_fcntl(int fd, int command, unsigned long argument) {
  return (int)syscall(FOSTER_FCNTL, fd, command, argument);
}

bool call_readlink(int directory, const char *path, char *target, size_t size) {
  long length = syscall(SYS_readlinkat, directory, path, target, size);
  if (length < 0)
    return false;
  if ((size_t)length == size) {
    errno = ENAMETOOLONG;
    return false;
  }
  target[length] = '\0';
  return true;
}

void *call_map_shared(int fd, size_t size) {
#ifdef FOSTER_MMAP
  return (void *)syscall(FOSTER_MMAP, NULL, size, PROT_READ | PROT_WRITE,
                         MAP_SHARED, fd, 0L);
#else
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
#endif
}

pid_t call_foreground(int fd) {
  pid_t group;
  return syscall(SYS_ioctl, fd, TIOCGPGRP, &group) < 0 ? -1 : group;
}

int call_set_foreground(int fd, pid_t group) {
  return (int)syscall(SYS_ioctl, fd, TIOCSPGRP, &group);
}

int call_prctl(int option, unsigned long argument) {
  return (int)syscall(SYS_prctl, option, argument, 0L, 0L, 0L);
}

nanoseconds call_clock(int clock) {
  int64_t time[2] = {0}; /* as the kernel has it: seconds, nanoseconds */
  long result = syscall(FOSTER_CLOCK, clock, time);
  (void)result;
#ifdef FOSTER_OLD_CLOCK
  /* Before Linux 5.1, and in sandboxes that are older than it. */
  if (result < 0) {
    long old[2] = {0};
    syscall(FOSTER_OLD_CLOCK, clock, old);
    return old[0] * SECOND + old[1];
  }
#endif
  return time[0] * SECOND + time[1];
}

signal_handler *call_sigaction(int signal, signal_handler *handler) {
  /* As the kernel has it where we run; some machines know no trampoline, some
   * let no function be called without. The mask may be longer than it is. */
  enum { TRAMPOLINE = 0x04000000 };
  struct {
    signal_handler *handler;
    /* The kernel reads them. */
    /* cppcheck-suppress unusedStructMember */
    unsigned long flags;
    /* cppcheck-suppress unusedStructMember */
    void *trampoline;
    /* cppcheck-suppress unusedStructMember */
    uint64_t mask[2];
  } action = {.handler = handler, .flags = TRAMPOLINE}, old;
  return syscall(SYS_rt_sigaction, signal, &action, &old, sizeof(uint64_t)) < 0
             ? SIG_ERR
             : old.handler;
}

int call_stat(int fd, const char *path, struct file_facts *facts) {
  enum { EMPTY_PATH = 0x1000, BASIC_STATS = 0x7ff }; /* linux/stat.h */
  return (int)syscall(SYS_statx, fd, path, EMPTY_PATH, BASIC_STATS, facts);
}
