/* What the probes share. */
#include "probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void say(const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text - 1, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof text - 1)
    abort();
  text[length++] = '\n';
  /* One write, so that lines of several probes never mix. That nobody reads
   * any more is no business of a probe's. */
  ssize_t written = write(STDOUT_FILENO, text, (size_t)length);
  (void)written;
}

_Noreturn void fail(const char *what) {
  fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
  _exit(98);
}

long number(const char *text) {
  char *end;
  errno = EINVAL;
  long value = text ? strtol(text, &end, 10) : 0;
  if (!text || !*text || *end)
    fail(text ? text : "an argument is missing");
  return value;
}

pid_t fork_or_fail(void) {
  pid_t pid = fork();
  if (pid < 0)
    fail("fork");
  return pid;
}

_Noreturn void exec_or_fail(char **argv) {
  errno = EINVAL;
  if (*argv)
    execvp(*argv, argv);
  fail(*argv ? *argv : "no program");
}

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

_Noreturn void hold(void) {
  /* A stop or a signal ends a sleep early. */
  for (double end = now() + PROBE_LIFETIME, left; (left = end - now()) > 0;)
    sleep((unsigned)left + 1);
  _exit(97);
}

/* The kernel's struct sigaction, where every architecture that the tests run
 * on (x86, arm) agrees. */
struct kernel_sigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  sigbits mask;
};

sigbits signal_list(const char *text) {
  if (strcmp(text, "all") == 0)
    return ALL_SIGNALS;
  sigbits set = 0;
  while (*text) {
    char *end;
    long sig = strtol(text, &end, 10);
    errno = EINVAL;
    if (end == text || sig < 1 || sig > LAST_SIGNAL || (*end && *end != ','))
      fail(text);
    set |= bit((int)sig);
    text = *end ? end + 1 : end;
  }
  return set;
}

sigbits set_mask(sigbits mask) {
  sigbits old;
  if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof mask))
    fail("rt_sigprocmask");
  return old;
}

void set_dispositions(sigbits set, bool ignored) {
  struct kernel_sigaction action = {.handler = ignored ? SIG_IGN : SIG_DFL};
  for (int sig = 1; sig <= LAST_SIGNAL; sig++)
    if (set & bit(sig) && sig != SIGKILL && sig != SIGSTOP &&
        syscall(SYS_rt_sigaction, sig, &action, NULL, sizeof action.mask))
      fail("rt_sigaction");
}

sigbits ignored_signals(void) {
  sigbits set = 0;
  for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
    struct kernel_sigaction action;
    if (syscall(SYS_rt_sigaction, sig, NULL, &action, sizeof action.mask))
      fail("rt_sigaction");
    if (action.handler == SIG_IGN)
      set |= bit(sig);
  }
  return set;
}

int wait_signal(sigbits set, double seconds, siginfo_t *info) {
  double end = now() + seconds;
  for (;;) {
    double left = end - now();
    if (left < 0)
      left = 0;
    /* long, as the kernel's own timespec has it on 64-bit machines. */
    long timeout[2] = {(long)left, (long)((left - (double)(long)left) * 1e9)};
    long sig = syscall(SYS_rt_sigtimedwait, &set, info, timeout, sizeof set);
    if (sig > 0)
      return (int)sig;
    if (errno == EAGAIN)
      return 0;
    /* A stop and SIGCONT give EINTR. */
    if (errno != EINTR)
      fail("rt_sigtimedwait");
  }
}

int send_signal(pid_t pid, int sig) { return (int)syscall(SYS_kill, pid, sig); }

int queue_signal(pid_t pid, int sig, int value) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = sig;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_int = value;
  return (int)syscall(SYS_rt_sigqueueinfo, pid, sig, &info);
}
