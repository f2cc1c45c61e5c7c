/* soak and press: a program under init that makes orphans and counts them, and
 * its counterpart outside, which sends it signals through init and counts
 * those. They share a file. Each number has to come back in init's own
 * counters, so nothing here may be lost: what cannot be had is asked for again.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BROOD = 20, FIRST_QUEUED = 34, WINDOW = 32 };

struct soak {
  _Atomic int storm; /* press: make orphans; 0: make an end of it */
  _Atomic int quiet; /* soak: no more orphans come */
  _Atomic long beat; /* when press was last there, in seconds */
  _Atomic long made; /* orphans */
  _Atomic long nested;
  _Atomic long wrong; /* queued signals that came with a wrong value */
  _Atomic long got[LAST_SIGNAL + 1];
  long sent[LAST_SIGNAL + 1];
};

static struct soak *shared;

static void share(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof *shared))
    fail(path);
  shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED)
    fail("mmap");
  close(fd);
}

/* fork(2), also when there is no pid left, as often in a small PID namespace:
 * init will reap. */
static pid_t fork_at_last(void) {
  for (;;) {
    pid_t pid = fork();
    if (pid >= 0)
      return pid;
    if (errno != EAGAIN && errno != ENOMEM)
      fail("fork");
    usleep(1000);
  }
}

/* Each link is an orphan as soon as the one before has ended; the first is the
 * program's own child. */
static _Noreturn void chain(void) {
  while (shared->storm) {
    pid_t pid = fork();
    if (pid > 0) {
      shared->made++;
      _exit(0);
    }
    if (pid == 0)
      setsid();
    else if (errno == EAGAIN || errno == ENOMEM)
      usleep(1000);
    else
      fail("fork");
  }
  _exit(0);
}

/* Orphans that end at once, from one parent after the other. */
static _Noreturn void mother(void) {
  while (shared->storm) {
    pid_t middle = fork_at_last();
    if (middle == 0) {
      for (int i = 0; i < BROOD; i++) {
        if (fork_at_last() == 0)
          _exit(0);
        shared->made++;
      }
      _exit(0);
    }
    if (waitpid(middle, NULL, 0) != middle)
      fail("waitpid");
  }
  _exit(0);
}

static void start_storm(long chains) {
  for (long i = 0; i <= chains; i++) {
    if (fork_at_last() == 0)
      i == 0 ? mother() : chain();
  }
}

/* Left behind, each in a session of its own: some that end at SIGTERM, and some
 * that do not, with a child each that does not either. */
static void leave_behind(long obedient, long stubborn) {
  for (long i = 0; i < obedient + stubborn; i++) {
    if (fork_at_last() == 0) {
      setsid();
      if (i < obedient) {
        set_mask(0);
      } else {
        if (fork_at_last() == 0)
          hold();
        shared->made++;
        shared->nested++;
      }
      hold();
    }
    shared->made++;
  }
  while (shared->nested < stubborn)
    usleep(1000);
}

/* Returns whether none is left. */
static int reap_own(void) {
  pid_t pid;
  while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
    ;
  return pid < 0;
}

/* Init has reaped all others. */
static int is_only_child(void) {
  char path[64], list[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", getppid(),
           getppid());
  int fd = open(path, O_RDONLY);
  if (fd < 0)
    fail(path);
  ssize_t length = read(fd, list, sizeof list - 1);
  close(fd);
  list[length > 0 ? length : 0] = 0;
  return strchr(list, ' ') == strrchr(list, ' ');
}

/* soak FILE CHAINS CODE [OBEDIENT STUBBORN]: at SIGTERM leave so many behind
 * and end with CODE, or -1: do not end. */
int probe_soak(int argc, char **argv) {
  share(argv[1]);
  long chains = number(argv[2]), code = number(argv[3]);
  long obedient = argc > 4 ? number(argv[4]) : 0;
  long stubborn = argc > 5 ? number(argv[5]) : 0;
  int storm = 0, ending = 0;
  set_mask(ALL_SIGNALS);
  shared->beat = (long)now();
  say("READY");

  for (;;) {
    siginfo_t info;
    int sig = wait_signal(~bit(SIGCHLD), 0.01, &info);
    if (sig > 0) {
      long count = ++shared->got[sig];
      if (sig >= FIRST_QUEUED && info.si_value.sival_int != (int)count)
        shared->wrong++;
      ending |= sig == SIGTERM && code >= 0;
    }
    int childless = reap_own();
    if (!storm && shared->storm) {
      storm = 1;
      start_storm(chains);
    } else if (storm && !shared->storm && childless && is_only_child()) {
      storm = 0;
      shared->quiet = 1;
    }
    if (ending && !storm) {
      leave_behind(obedient, stubborn);
      return (int)code;
    }
    if ((long)now() > shared->beat + PROBE_LIFETIME)
      return 97;
  }
}

static void send_one(pid_t pid, int sig) {
  shared->sent[sig]++;
  int result = sig >= FIRST_QUEUED
                   ? queue_signal(pid, sig, (int)shared->sent[sig])
                   : send_signal(pid, sig);
  if (result)
    fail("cannot send a signal");
}

/* A signal of the old kind that is pending already is not there twice. */
static int all_came(int sig) { return shared->got[sig] == shared->sent[sig]; }

static void await(const char *what, int (*holds)(int), int sig) {
  for (double end = now() + PROBE_LIFETIME / 5.0; !holds(sig); usleep(500))
    if (now() > end) {
      fprintf(stderr, "press: not in time: %s, signal %d: %ld of %ld\n", what,
              sig, shared->got[sig], shared->sent[sig]);
      exit(98);
    }
}
static int is_quiet(int unused) { return (void)unused, shared->quiet; }

/* What init must have counted, in the words of its report. */
static void tell_counts(void) {
  static const struct {
    int sig;
    const char *name;
  } names[] = {{SIGHUP, "SIGHUP"},   {SIGUSR1, "SIGUSR1"},
               {SIGUSR2, "SIGUSR2"}, {SIGTERM, "SIGTERM"},
               {SIGCONT, "SIGCONT"}, {SIGWINCH, "SIGWINCH"},
               {34, "SIGRTMIN"},     {35, "SIGRTMIN+1"},
               {50, "SIGRTMAX-14"},  {64, "SIGRTMAX"}};
  const char *separator = "";
  printf("{\"orphans_reaped\":%ld,\"signals_forwarded\":{", shared->made);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (shared->sent[names[i].sig] > 0) {
      printf("%s\"%s\":%ld", separator, names[i].name,
             shared->sent[names[i].sig]);
      separator = ",";
    }
  printf("}}\n");
}

/* press FILE INIT PROGRAM MILLISECONDS [SIGNAL]: a storm for so long; both pids
 * as seen from here. Then, when all is quiet, the last signal. SIGKILL goes to
 * the program, in the middle of its storm.
 * press FILE: what init must have counted until now. */
int probe_press(int argc, char **argv) {
  static const int queued[] = {34, 35, 50, 64};
  static const int plain[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
  share(argv[1]);
  if (argc == 2) {
    tell_counts();
    return 0;
  }
  pid_t init = (pid_t)number(argv[2]), program = (pid_t)number(argv[3]);
  double end = now() + (double)number(argv[4]) / 1e3;
  int last = argc > 5 ? (int)number(argv[5]) : 0;

  shared->quiet = 0;
  shared->storm = 1;
  for (long i = 0; now() < end; i++, usleep(500)) {
    shared->beat = (long)now();
    for (size_t n = 0; n < sizeof queued / sizeof *queued; n++)
      while (shared->sent[queued[n]] < shared->got[queued[n]] + WINDOW)
        send_one(init, queued[n]);
    for (size_t n = 0; n < sizeof plain / sizeof *plain; n++) {
      if (!all_came(plain[n]))
        continue;
      /* Either is stopped for a moment, and both are continued by init. */
      if (plain[n] == SIGCONT) {
        if (send_signal(i % 2 ? init : program, SIGSTOP))
          fail("SIGSTOP");
        usleep(1000);
      }
      send_one(init, plain[n]);
    }
  }
  for (int sig = 1; sig <= LAST_SIGNAL; sig++)
    await("a signal", all_came, sig);
  if (last == SIGKILL) {
    if (send_signal(program, SIGKILL))
      fail("SIGKILL");
  } else {
    shared->storm = 0;
    await("quiet", is_quiet, 0);
    if (last)
      send_one(init, last);
  }
  if (shared->wrong > 0)
    fprintf(stderr, "press: %ld values were wrong\n", shared->wrong);
  return shared->wrong > 0;
}
