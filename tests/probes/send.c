/* send, sigqueue, raise. */
#include "probe.h"

#include <unistd.h>

int probe_send(int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    if (send_signal((pid_t)number(argv[1]), (int)number(argv[i])))
      fail("kill");
  return 0;
}

int probe_sigqueue(int argc, char **argv) {
  for (int i = 3; i < argc; i++)
    if (queue_signal((pid_t)number(argv[1]), (int)number(argv[2]),
                     (int)number(argv[i])))
      fail("rt_sigqueueinfo");
  return 0;
}

int probe_raise(int argc, char **argv) {
  (void)argc;
  int sig = (int)number(argv[1]);
  /* glibc's posix_spawn, which make uses, ignores its own two for the child. */
  set_dispositions(bit(sig), false);
  say("READY");
  if (send_signal(getpid(), sig))
    fail("kill");
  hold();
}
