/* again, flood, moves: what an init must bear with. */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int probe_again(int argc, char **argv) {
  static char left[24];
  long count = number(argv[1]);
  if (count == 0)
    exec_or_fail(argv + 2);
  (void)argc;
  snprintf(left, sizeof left, "%ld", count - 1);
  argv[1] = left;
  /* Before our own arguments is the name of this program. */
  execv("/proc/self/exe", argv - 1);
  fail("/proc/self/exe");
}

int probe_flood(int argc, char **argv) {
  (void)argc;
  sigbits set = signal_list(argv[2]);
  /* Not by its number, which is somebody else's one day. */
  long pidfd = syscall(SYS_pidfd_open, (pid_t)number(argv[1]), 0);
  if (pidfd < 0)
    fail("pidfd_open");
  say("READY");
  for (double end = now() + PROBE_LIFETIME; now() < end;)
    for (int sig = 1; sig <= LAST_SIGNAL; sig++)
      if (set & bit(sig) &&
          syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) &&
          errno != EAGAIN)
        return errno == ESRCH ? 0 : 98;
  return 97;
}

int probe_moves(int argc, char **argv) {
  (void)argc;
  pid_t child = fork_or_fail();
  if (child == 0)
    hold();
  if (setpgid(child, child) || setpgid(0, child))
    fail("setpgid");
  if (strcmp(argv[1], "session") == 0 && setsid() < 0)
    fail("setsid");
  exec_or_fail(argv + 2);
}
