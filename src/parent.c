#include "parent.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "calls.h"

/* The signal that we let the kernel send: not the user's, since it also comes
 * when only the parent's thread ends (Go and Node start processes from threads
 * that do). A real-time one that hardly anybody sends to an init. */
enum { PARENT_DEATH_SIGNAL = 63 };

bool parent_watch(struct init *init) {
  if (call_prctl(PR_SET_PDEATHSIG, PARENT_DEATH_SIGNAL) < 0)
    log_line(LOG_FAILURE, "-p: the parent's death will not be noticed");
  return getppid() == init->parent;
}

enum parent_news parent_news(const struct init *init,
                             const struct signalfd_siginfo *received) {
  if (init->options.parent_death == 0 ||
      received->ssi_signo != PARENT_DEATH_SIGNAL ||
      received->ssi_code != SI_USER)
    return PARENT_NO_NEWS;
  pid_t parent = getppid();
  if (parent != init->parent)
    return PARENT_DIED;
  /* A parent outside our PID namespace reads 0 before and after. */
  if (parent == 0)
    return received->ssi_pid == 0 ? PARENT_DIED : PARENT_NO_NEWS;
  return (pid_t)received->ssi_pid == parent ? PARENT_LIVES : PARENT_NO_NEWS;
}
