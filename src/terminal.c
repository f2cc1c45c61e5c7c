#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "calls.h"
#include "descriptors.h"
#include "signals.h"

void terminal_find(struct terminal *terminal) {
  *terminal = (struct terminal){.fd = -1, .resume_at = NEVER};

  /* One call says whether there is a controlling terminal (ENXIO: none), also
   * where stdin, stdout and stderr lead elsewhere. */
  int fd = descriptor_of_ours(call_open("/dev/tty", O_RDWR | O_NOCTTY));
  if (fd < 0 && errno == ENXIO)
    return;
  /* No /dev/tty here, or it is denied: then whichever of the three it is. */
  for (int i = STDIN_FILENO; fd < 0 && i <= STDERR_FILENO; i++)
    if (tcgetpgrp(i) >= 0)
      fd = i;
  if (fd < 0)
    return;

  /* 0 is a group outside our PID namespace: it could not be given back. */
  pid_t group = getpgrp();
  if (group == 0)
    return;
  terminal->fd = fd;
  terminal->own_group = group;
  terminal->handed_over = tcgetpgrp(fd) == group;
}

void terminal_set_foreground(const struct terminal *terminal, pid_t group) {
  if (terminal->fd >= 0)
    (void)tcsetpgrp(terminal->fd, group);
}

static void hand_over(struct init *init) {
  terminal_set_foreground(&init->terminal, init->entrypoint.pid);
  init->terminal.handed_over = true;
}

static pid_t foreground(const struct terminal *terminal) {
  return terminal->fd < 0 ? -1 : tcgetpgrp(terminal->fd);
}

static bool has_foreground(const struct terminal *terminal) {
  return terminal->fd >= 0 && foreground(terminal) == terminal->own_group;
}

void terminal_continue(struct init *init) {
  if (!init->entrypoint.ended && has_foreground(&init->terminal))
    hand_over(init);
}

void terminal_resume(struct init *init) {
  init->terminal.resumed = now();
  init->terminal.resume_at = NEVER;
  kill(-init->entrypoint.pid, SIGCONT);
}

/* Answer the entrypoint's stop with SIGCONT, at most once a second: a program
 * that stops itself again and again must not keep a processor busy. */
static void resume_soon(struct init *init) {
  struct terminal *terminal = &init->terminal;
  nanoseconds earliest = terminal->resumed + SECOND;
  if (terminal->resumed == 0 || earliest <= now())
    terminal_resume(init);
  else
    terminal->resume_at = earliest;
}

/* Stop our own group with `signal`, and us with it. Returns when we have been
 * continued, or at once, false, where the kernel refuses: nobody could resume
 * an orphaned group (setpgid(2)). */
static bool stop_own_group(int signal) {
  sigset_t stop, pending;
  sigemptyset(&stop);
  sigaddset(&stop, signal);
  kill(0, signal); /* also discards a pending SIGCONT (signal(7)) */
  sigprocmask(SIG_UNBLOCK, &stop, NULL);
  /* Stopped here, until a SIGCONT, which then waits in the signalfd. */
  signals_set_mask(~(signal_mask)0);
  return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT);
}

void terminal_stopped(struct init *init, int signal) {
  struct terminal *terminal = &init->terminal;
  bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (signal != SIGTSTP && !wants_terminal)
    return;

  if (wants_terminal && has_foreground(terminal)) {
    hand_over(init);
    kill(-init->entrypoint.pid, SIGCONT);
    return;
  }

  if (init->pid1 || getsid(0) == init->pid) {
    /* The terminal may still be with a group of which nobody is left. */
    pid_t group = foreground(terminal);
    if (wants_terminal && group > 0 && kill(-group, 0) < 0 && errno == ESRCH)
      hand_over(init);
    resume_soon(init);
    return;
  }

  if (terminal->handed_over) {
    terminal_set_foreground(terminal, terminal->own_group);
    terminal->handed_over = false;
  }
  if (!stop_own_group(signal)) {
    terminal_continue(init);
    resume_soon(init);
  }
}

void terminal_give_back(const struct init *init) {
  if (init->terminal.handed_over)
    terminal_set_foreground(&init->terminal, init->terminal.own_group);
}

void terminal_die_alike(const struct init *init) {
  const struct entrypoint *entrypoint = &init->entrypoint;
  if (init->pid1 || !init->terminal.handed_over || !entrypoint->ended ||
      !WIFSIGNALED(entrypoint->wstatus))
    return;
  int signal = WTERMSIG(entrypoint->wstatus);
  if ((signal != SIGINT && signal != SIGQUIT) ||
      (init->forwarded & signal_bit(signal)))
    return;

  call_prctl(PR_SET_DUMPABLE, 0); /* SIGQUIT's core dump was the program's */
  call_sigaction(signal, SIG_DFL);
  kill(0, signal);
  signals_set_mask(~signal_bit(signal));
}
