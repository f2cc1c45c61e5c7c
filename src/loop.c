#include "loop.h"

#include <signal.h>

#include "forward.h"
#include "parent.h"
#include "reap.h"
#include "signals.h"
#include "terminal.h"

/* A stop was asked for: the clocks start. A stop signal comes first or after
 * the parent's death; each has its own time for the entrypoint. */
static void note_stop(struct init *init, nanoseconds kill_after) {
  nanoseconds time = now();
  init->last_stop = time;
  if (init->first_stop == NEVER)
    init->first_stop = time;
  nanoseconds kill_at = later(time, kill_after);
  if (kill_at < init->kill_at)
    init->kill_at = kill_at;
}

static void parent_died(struct init *init) {
  log_line(LOG_VERBOSE, "the parent, process %d, has died", (int)init->parent);
  if (init->options.action == ACTION_PAUSE) {
    note_stop(init, NEVER);
    return;
  }
  forward_own(init, init->options.parent_death);
  note_stop(init, init->options.kill_after);
}

static void note_sender(struct status *status,
                        const struct signalfd_siginfo *received) {
  status_begin(status);
  status->last_signal = (int32_t)received->ssi_signo;
  status->last_sender_pid = (int32_t)received->ssi_pid;
  status->last_sender_uid = received->ssi_uid;
  status_end(status);
}

static void received_signal(struct init *init,
                            const struct signalfd_siginfo *received) {
  int signal = (int)received->ssi_signo;
  if (log_level >= LOG_DEBUG)
    log_line(LOG_DEBUG, "received %s (code %d) from process %d (uid %u)",
             signal_name(signal), received->ssi_code, (int)received->ssi_pid,
             received->ssi_uid);
  /* Our own doing: a write to a broken pipe, or past RLIMIT_FSIZE, which the
   * status page alone does where that is 0; giving others the terminal. */
  if ((signal == SIGPIPE || signal == SIGXFSZ || signal == SIGCONT) &&
      (pid_t)received->ssi_pid == init->pid)
    return;
  switch (parent_news(init, received)) {
  case PARENT_DIED:
    parent_died(init);
    return;
  case PARENT_LIVES:
    return;
  case PARENT_NO_NEWS:
    break;
  }
  note_sender(init->status, received);
  const bool pause = init->options.action == ACTION_PAUSE;
  if (is_stop_signal(signal) && init->options.rewrite[signal] != 0)
    note_stop(init, pause ? NEVER : init->options.stop_timeout);
  if (!pause)
    forward(init, received);
}

/* The clocks that may run before the entrypoint's end. */
static void look_at_clock(struct init *init) {
  if (init->kill_at == NEVER && init->terminal.resume_at == NEVER)
    return;
  nanoseconds time = now();
  if (init->terminal.resume_at <= time)
    terminal_resume(init);
  if (init->kill_at <= time) {
    log_line(LOG_WARNING, "process %d has not ended in time: sending SIGKILL",
             (int)init->entrypoint.pid);
    init->kill_at = NEVER;
    init->entrypoint.killed = true;
    kill(init->entrypoint.pid, SIGKILL);
  }
}

bool loop(struct init *init, nanoseconds until) {
  const bool pause = init->options.action == ACTION_PAUSE;
  /* Zombies may have been inherited before SIGCHLD was blocked. */
  enum reap_result reaped = REAP_MORE;

  while (pause ? init->first_stop == NEVER : !init->entrypoint.ended) {
    nanoseconds deadline =
        earlier(until, earlier(init->kill_at, init->terminal.resume_at));
    if (until != NEVER && until <= now())
      return false;
    if (reaped == REAP_MORE)
      deadline = 0; /* only look */

    int count = signals_receive(init, deadline);
    for (int i = 0; i < count; i++)
      if (init->records[i].ssi_signo == SIGCHLD)
        reaped = REAP_MORE;
      else
        received_signal(init, &init->records[i]);

    look_at_clock(init);
    if (reaped == REAP_MORE)
      reaped = reap(init);
  }
  return true;
}
