/* adoption, heirs, master, sleepers, slow, told: families for the drain. */
#include "probe.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sigbits block(sigbits set) {
  sigbits old = set_mask(ALL_SIGNALS); /* not open for a moment */
  set_mask(old | set);
  return old;
}

/* Wait for a SIGTERM, and say who it is from. Only after it does the process
 * look at its parent, so an adoption before it counts. */
static void wait_for_term(const char *name) {
  siginfo_t info;
  if (wait_signal(bit(SIGTERM), PROBE_LIFETIME, &info) == 0)
    _exit(97);
  say("%s told by %s", name,
      info.si_pid == getppid() ? "its parent" : "somebody else");
}

int probe_told(int argc, char **argv) {
  block(bit(SIGTERM));
  say("READY");
  wait_for_term(argc > 1 ? argv[1] : "child");
  return 0;
}

int probe_slow(int argc, char **argv) {
  (void)argc;
  useconds_t span = (useconds_t)number(argv[1]) * 1000;
  block(bit(SIGTERM));
  say("READY");
  wait_for_term("slow");
  usleep(span);
  say("finished");
  return 0;
}

int probe_heirs(int argc, char **argv) {
  (void)argc;
  long generations = number(argv[1]);
  siginfo_t info;
  block(bit(SIGTERM));
  say("READY");
  do {
    if (wait_signal(bit(SIGTERM), PROBE_LIFETIME, &info) == 0)
      return 97;
    if (generations-- == 0)
      break;
    if (fork_or_fail())
      return 0;
    setsid();
    say("heir");
  } while (true);
  say("last");
  return 0;
}

int probe_master(int argc, char **argv) {
  (void)argc;
  long count = number(argv[1]);
  if (setsid() < 0 && errno != EPERM)
    fail("setsid");
  block(bit(SIGTERM));
  pid_t workers[64];
  for (long i = 0; i < count; i++) {
    workers[i] = fork_or_fail();
    if (workers[i] == 0) {
      wait_for_term("worker");
      return 0;
    }
  }
  say("READY");
  wait_for_term("master");
  for (long i = 0; i < count; i++) {
    if (kill(workers[i], SIGTERM) || waitpid(workers[i], NULL, 0) < 0)
      fail("worker");
  }
  say("master ends");
  return 0;
}

/* If no limit ends it there was none: it must not take the machine. */
enum { MOST_SLEEPERS = 1000 };

int probe_sleepers(int argc, char **argv) {
  long count = number(argv[1]);
  bool apart = argc > 2 && strcmp(argv[2], "apart") == 0;
  for (long i = 0; i < count || count == 0; i++) {
    errno = ERANGE;
    if (count == 0 && i == MOST_SLEEPERS)
      fail("no limit");
    pid_t pid = fork();
    if (pid < 0 && count == 0 && errno == EAGAIN)
      break;
    if (pid < 0)
      fail("fork");
    if (pid == 0) {
      if (apart)
        setsid();
      hold();
    }
  }
  say("READY");
  return 0;
}

int probe_adoption(int argc, char **argv) {
  (void)argc, (void)argv;
  siginfo_t info;
  block(bit(SIGTERM) | bit(SIGUSR1));
  pid_t middle = fork_or_fail();
  if (middle == 0) {
    if (fork_or_fail() == 0) {
      wait_for_term("grandchild");
      return 0;
    }
    hold();
  }
  say("READY");
  if (wait_signal(bit(SIGUSR1), PROBE_LIFETIME, &info) == 0)
    return 97;
  if (kill(middle, SIGKILL) || waitpid(middle, NULL, 0) != middle)
    fail("middle");
  say("orphaned");
  hold();
}
