#include "reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "children.h"
#include "terminal.h"

int exit_code_of(int wstatus) {
  return WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}

const char *end_words(int wstatus) {
  return WIFSIGNALED(wstatus)
             ? brief("killed by %s%s", signal_name(WTERMSIG(wstatus)),
                     WCOREDUMP(wstatus) ? " (core dumped)" : "")
             : brief("exit code %d", WEXITSTATUS(wstatus));
}

static void set_state(struct init *init, enum status_state state) {
  status_begin(init->status);
  init->status->state = state;
  status_end(init->status);
}

static void entrypoint_changed(struct init *init, int wstatus) {
  pid_t pid = init->entrypoint.pid;
  if (WIFSTOPPED(wstatus)) {
    log_line(LOG_VERBOSE, "process %d was stopped by %s", (int)pid,
             signal_name(WSTOPSIG(wstatus)));
    set_state(init, STATE_STOPPED);
    terminal_stopped(init, WSTOPSIG(wstatus));
  } else if (WIFCONTINUED(wstatus)) {
    log_line(LOG_VERBOSE, "process %d was continued", (int)pid);
    set_state(init, STATE_RUNNING);
  } else {
    init->entrypoint.ended = true;
    init->entrypoint.wstatus = wstatus;
  }
}

static void orphan_reaped(struct init *init, int wstatus) {
  status_begin(init->status);
  init->status->orphans_reaped++;
  status_end(init->status);
  if (init->killing && WIFSIGNALED(wstatus) && WTERMSIG(wstatus) == SIGKILL)
    init->killed++;
}

static void say_who_ended(pid_t pid, const char *name, int wstatus) {
  log_line(LOG_WARNING, "reaped orphan %d (%s): %s", (int)pid, name,
           end_words(wstatus));
}

enum reap_result reap(struct init *init) {
  struct entrypoint *entrypoint = &init->entrypoint;
  const bool say = init->options.warn_on_reap || log_level >= LOG_DEBUG;

  for (int i = 0; i < REAP_BATCH; i++) {
    const int changes = WNOHANG | WUNTRACED | WCONTINUED | __WALL;
    siginfo_t next = {0};
    const char *name = "?";
    pid_t pid = -1;
    /* With -w: the name is in /proc until the zombie is reaped, so look first,
     * and then reap that one. */
    if (say && waitid(P_ALL, 0, &next, changes | WEXITED | WNOWAIT) == 0) {
      pid = next.si_pid;
      if (pid == 0)
        return REAP_IDLE;
      name = child_name(pid);
    }
    int wstatus;
    pid =
        wait4(pid, &wstatus, changes, entrypoint->ended ? NULL : &init->usage);
    if (pid == 0)
      return REAP_IDLE;
    /* With any other error than ECHILD ask again, and look at the signals
     * before: the SIGCHLD that told of an end is read already. */
    if (pid < 0)
      return errno == ECHILD ? REAP_NOBODY : REAP_MORE;
    if (pid == entrypoint->pid && !entrypoint->ended) {
      entrypoint_changed(init, wstatus);
      /* Which may just have set it. */
      /* cppcheck-suppress knownConditionTrueFalse */
      if (entrypoint->ended)
        return REAP_MORE;
    } else if (!WIFSTOPPED(wstatus) && !WIFCONTINUED(wstatus)) {
      child_forget(pid);
      orphan_reaped(init, wstatus);
      if (say)
        say_who_ended(pid, name, wstatus);
    }
  }
  return REAP_MORE;
}
