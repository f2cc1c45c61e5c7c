/* daemon, orphans, clone, inherit, storm: families of every kind. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ECHILD: with SIGCHLD ignored it is gone without a status. */
static void wait_for(pid_t pid) {
  if (waitpid(pid, NULL, 0) != pid && errno != ECHILD)
    fail("waitpid");
}

int probe_daemon(int argc, char **argv) {
  (void)argc;
  pid_t middle = fork_or_fail();
  if (middle == 0) {
    if (setsid() < 0)
      fail("setsid");
    if (fork_or_fail() == 0)
      exec_or_fail(argv + 1);
    _exit(0);
  }
  wait_for(middle);
  return 0;
}

int probe_orphans(int argc, char **argv) {
  long count = number(argv[1]);
  bool held = argc > 2 && strcmp(argv[2], "held") == 0;
  siginfo_t info;
  int gate[2];
  char byte;
  if (pipe(gate))
    fail("pipe");
  sigbits old = set_mask(ALL_SIGNALS);
  /* A hundred at a time, since each wait costs a turn on a busy machine. */
  enum { BROOD = 100 };
  for (; count > 0; count -= BROOD) {
    pid_t middle = fork_or_fail();
    if (middle == 0) {
      for (long i = 0; i < count && i < BROOD; i++)
        if (fork_or_fail() == 0) {
          set_mask(old);
          close(gate[1]);
          _exit(held && read(gate[0], &byte, 1) != 0 ? 98 : 0);
        }
      _exit(0);
    }
    wait_for(middle);
  }
  say("READY");
  double end = now() + PROBE_LIFETIME;
  for (;;) {
    int sig = wait_signal(bit(SIGUSR1) | bit(SIGTERM), end - now(), &info);
    if (sig != SIGUSR1)
      return sig == SIGTERM ? 0 : 97;
    close(gate[1]);
  }
}

/* fork(2) with another exit signal than SIGCHLD. */
static pid_t fork_with(int sig) {
  pid_t pid =
      (pid_t)syscall(SYS_clone, (unsigned long)sig, NULL, NULL, NULL, NULL);
  if (pid < 0)
    fail("clone");
  return pid;
}

int probe_clone(int argc, char **argv) {
  (void)argc;
  int sig = (int)number(argv[1]);
  pid_t middle = fork_or_fail();
  if (middle == 0) {
    if (fork_with(sig) == 0) {
      say("READY");
      hold();
    }
    _exit(0);
  }
  wait_for(middle);
  hold();
}

int probe_inherit(int argc, char **argv) {
  (void)argc;
  int sig = (int)number(argv[1]);
  if (fork_with(sig) == 0) {
    char byte;
    int fd = open(argv[2], O_RDONLY);
    if (fd < 0)
      fail(argv[2]);
    while (read(fd, &byte, 1) > 0)
      ;
    _exit(0);
  }
  exec_or_fail(argv + 3);
}

/* Fork, leave the session, end: each link is an orphan, and its child the next
 * one. Where there is no pid left the link tries again. */
static _Noreturn void chain(double end) {
  while (now() < end) {
    pid_t pid = fork();
    if (pid > 0)
      _exit(0);
    if (pid == 0)
      setsid();
    else if (errno == EAGAIN || errno == ENOMEM)
      sched_yield();
    else
      fail("fork");
  }
  _exit(0);
}

int probe_storm(int argc, char **argv) {
  (void)argc;
  long count = number(argv[1]);
  double end = now() + (double)number(argv[2]);
  siginfo_t info;
  int gate[2];
  char byte;
  if (pipe(gate))
    fail("pipe");
  sigbits old = set_mask(ALL_SIGNALS);
  /* All at once: the first ones would leave no pid for the others. */
  for (long i = 0; i < count; i++)
    if (fork_or_fail() == 0) {
      set_mask(old);
      close(gate[1]);
      if (read(gate[0], &byte, 1) != 0)
        _exit(98);
      close(gate[0]);
      chain(end);
    }
  close(gate[1]);
  say("READY");
  if (argc > 3) {
    usleep((useconds_t)number(argv[3]) * 1000);
    return 7;
  }
  for (;;) {
    int sig = wait_signal(bit(SIGTERM) | bit(SIGCHLD), end - now(), &info);
    while (waitpid(-1, NULL, WNOHANG) > 0)
      ;
    if (sig == 0)
      return 97;
    if (sig == SIGTERM)
      break;
  }
  say("TERM");
  return 0;
}
