/* signals, pair: print every signal that arrives. */
#include "probe.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Print signals until `last` came. All are blocked, so that none acts but is
 * taken from the queue, whatever its default. Lines are
 *   NAME SIGNAL CODE VALUE, e.g. "program 34 queue 7" or "program 15 user 0"
 * CODE tells kill(2) from sigqueue(3) and from the kernel. */
static void print_signals(const char *name, int last) {
  double end = now() + PROBE_LIFETIME;
  siginfo_t info;
  int sig;
  do {
    memset(&info, 0, sizeof info);
    sig = wait_signal(ALL_SIGNALS & ~bit(SIGCHLD), end - now(), &info);
    if (sig)
      say("%s %d %s %d", name, sig,
          info.si_code == SI_USER    ? "user"
          : info.si_code == SI_QUEUE ? "queue"
          : info.si_code == SI_TKILL ? "tkill"
          : info.si_code > 0         ? "kernel"
                                     : "other",
          info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
  } while (sig && sig != last);
}

int probe_signals(int argc, char **argv) {
  set_mask(ALL_SIGNALS);
  say("READY");
  print_signals("program", argc > 1 ? (int)number(argv[1]) : SIGTERM);
  return 0;
}

int probe_pair(int argc, char **argv) {
  int last = argc > 1 ? (int)number(argv[1]) : SIGTERM;
  int ready[2];
  char byte;
  if (pipe(ready))
    fail("pipe");
  set_mask(ALL_SIGNALS);
  pid_t child = fork_or_fail();
  if (child == 0) {
    close(ready[1]);
    close(ready[0]);
    print_signals("child", last);
    _exit(0);
  }
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 0)
    fail("read");
  say("READY");
  print_signals("program", last);
  /* One that was not told ends here. */
  for (double end = now() + 1; now() < end;)
    if (waitpid(child, NULL, WNOHANG) == child)
      return 0;
    else
      usleep(5000);
  kill(child, SIGKILL);
  return waitpid(child, NULL, 0) == child ? 0 : 98;
}
