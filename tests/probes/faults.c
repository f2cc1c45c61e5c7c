/* launch, asks: before and after a foster whose system calls are made to fail.
 *
 * strace(1) counts the calls of each process on its own and fails the Nth of
 * all of them. So that a fault meant for init hits nobody else, the launcher
 * makes again what failed, the program makes none of init's calls, and init's
 * numbers begin where those of its child, which starts at 1, don't come to. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_CALLS = 8, TRIES = 4 };
/* Seconds for what comes at once, if it does. */
enum { PATIENCE = 60 };

/* Make a call again if it failed: that may have been the fault. */
#define PERSIST(result, call)                                                  \
  for (int tries = 0; ((result) = (long)(call)) < 0 && ++tries < TRIES;)       \
  continue

/* As say. */
static void report(const char *line) {
  long result;
  PERSIST(result, write(STDOUT_FILENO, line, strlen(line)));
}

static void put_numbers_apart(void) {
  char name[16];
  int size;
  sigbits mask;
  for (int i = 0; i < CHILD_CALLS; i++) {
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, sizeof mask);
    prctl(PR_GET_NAME, name);
    ioctl(STDIN_FILENO, FIONREAD, &size);
  }
}

/* SIGTERM, if `pause`, is pending from the start: -P ends of it. */
_Noreturn static void become(char **argv, bool pause) {
  put_numbers_apart();
  /* What asks and its child wait for: inherited, and so no call of theirs. */
  set_mask(bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGTERM));
  if (pause)
    syscall(SYS_tkill, getpid(), SIGTERM);
  syscall(SYS_execveat, AT_FDCWD, argv[0], argv, environ, 0);
  fail(argv[0]);
}

/* The rest of the launcher's life: continue its child when it stops, and pass
 * on its exit code, or that of the last one that is adopted. */
_Noreturn static void wait_for(pid_t child) {
  int wstatus, code = 98;
  for (;;) {
    long pid;
    PERSIST(pid, waitpid(child, &wstatus, WUNTRACED));
    if (pid < 0)
      _exit(code);
    if (WIFSTOPPED(wstatus))
      syscall(SYS_tkill, (pid_t)pid, SIGCONT);
    else
      code =
          WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : 128 + WTERMSIG(wstatus);
  }
}

/* Another init, and wait until it can be looked into. */
static void start_another(char *init) {
  char pause[] = "-P", *argv[] = {init, pause, NULL};
  char path[32], target[32];
  pid_t child = fork_or_fail();
  if (child == 0)
    exec_or_fail(argv);
  for (int fd = 3; fd < 8 || usleep(1000) == 0; fd = fd < 8 ? fd + 1 : 3) {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)child, fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (strstr(target, "foster-status"))
      return;
  }
}

/* PID 1 of a new PID namespace with a /proc of its own; unshare(1) would be one
 * more program to hit. */
_Noreturn static void launch_pid1(char **argv, const char *place) {
  if (unshare(CLONE_NEWPID | CLONE_NEWNS))
    fail("unshare");
  pid_t child = fork_or_fail();
  if (child)
    wait_for(child);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
      mount("proc", "/proc", "proc", 0, NULL))
    fail("mount");
  if (strcmp(place, "status") == 0)
    start_another(argv[0]);
  become(argv, strcmp(place, "pause") == 0);
}

/* With a parent that the program can end: its number is in $PARENT. */
_Noreturn static void launch_orphan(char **argv) {
  char text[16];
  if (prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L))
    fail("PR_SET_CHILD_SUBREAPER");
  if (fork_or_fail())
    wait_for(-1);
  snprintf(text, sizeof text, "%d", (int)getpid());
  if (setenv("PARENT", text, 1))
    fail("setenv");
  pid_t child = fork_or_fail();
  if (child)
    wait_for(child);
  become(argv, false);
}

/* A job in the foreground of a terminal, as a shell starts it. */
_Noreturn static void launch_terminal(char **argv) {
  char path[32];
  long master, slave, result;
  int index, unlock = 0;
  PERSIST(master, open("/dev/ptmx", O_RDWR | O_NOCTTY));
  PERSIST(result, ioctl((int)master, TIOCSPTLCK, &unlock));
  /* A libc that has int for the request does not like this one. */
  PERSIST(result, syscall(SYS_ioctl, master, TIOCGPTN, &index));
  snprintf(path, sizeof path, "/dev/pts/%d", index);
  PERSIST(slave, open(path, O_RDWR | O_NOCTTY));
  pid_t leader = fork_or_fail();
  if (leader)
    wait_for(leader);
  if (setsid() < 0)
    fail("setsid");
  PERSIST(result, ioctl((int)slave, TIOCSCTTY, 0));
  if (result < 0)
    fail("TIOCSCTTY");
  pid_t child = fork_or_fail();
  if (child)
    wait_for(child);
  PERSIST(result, dup2((int)slave, STDIN_FILENO));
  set_mask(ALL_SIGNALS);
  pid_t own = getpid();
  PERSIST(result, setpgid(0, 0));
  PERSIST(result, ioctl((int)slave, TIOCSPGRP, &own));
  become(argv, false);
}

int probe_launch(int argc, char **argv) {
  errno = EINVAL;
  if (argc < 3)
    fail("launch");
  if (strcmp(argv[1], "pid1") == 0 || strcmp(argv[1], "pause") == 0 ||
      strcmp(argv[1], "status") == 0)
    launch_pid1(argv + 2, argv[1]);
  if (strcmp(argv[1], "orphan") == 0)
    launch_orphan(argv + 2);
  if (strcmp(argv[1], "terminal") == 0)
    launch_terminal(argv + 2);
  become(argv + 2, false);
}

/* A child that has to be killed, and says so if init ends without it. The
 * parent may have ended before prctl(2), which then tells of no death but of
 * the next one: it is asked for after that. */
static void outlive(pid_t init, pid_t parent) {
  long result;
  siginfo_t info;
  PERSIST(result, prctl(PR_SET_PDEATHSIG, SIGUSR2));
  do
    if (getppid() != parent && getppid() != init) {
      report("outlived\n");
      break;
    }
  while (wait_signal(bit(SIGUSR2), PATIENCE, &info) == SIGUSR2);
  _exit(0);
}

/* One for the drain, and an orphan for -w that ends at once. */
static void leave(void) {
  pid_t init = getppid(), own = getpid();
  if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0)
    outlive(init, own);
  if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
    syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    _exit(0);
  }
  long result;
  PERSIST(result, waitpid(-1, NULL, 0));
}

/* Make sure that init is told, the fault may hit one read: until it has told
 * us.
 */
static bool ask(bool queued, int sig) {
  siginfo_t info;
  for (double end = now() + PATIENCE; now() < end;) {
    long result;
    if (queued)
      PERSIST(result, queue_signal(getppid(), sig, 7));
    else
      PERSIST(result, syscall(SYS_tkill, getppid(), sig));
    if (wait_signal(bit(sig), 2, &info) == sig)
      return true;
  }
  return false;
}

static bool parent_ends(void) {
  siginfo_t info;
  const char *parent = getenv("PARENT");
  syscall(SYS_tkill, (pid_t)number(parent), SIGKILL);
  return wait_signal(bit(SIGUSR1), PATIENCE, &info) == SIGUSR1;
}

/* Exit code 42 if every signal that was sent to init came here. */
int probe_asks(int argc, char **argv) {
  bool queued = false, heard = true;
  report("READY\n");
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "leaves") == 0)
      leave();
    else if (strcmp(argv[i], "queued") == 0)
      queued = true;
    else if (strcmp(argv[i], "orphans") == 0)
      heard = parent_ends() && heard;
    else if (strcmp(argv[i], "ends") == 0)
      heard = ask(false, SIGTERM) && heard;
    else if (strcmp(argv[i], "stops") == 0)
      syscall(SYS_tkill, getpid(), SIGTSTP);
  return heard && ask(queued, SIGUSR1) ? 42 : 43;
}
