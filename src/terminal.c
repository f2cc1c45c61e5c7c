#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "descriptors.h"
#include "signals.h"

/* Is stdin or stdout what a shell joins the parts of a pipeline with? Then
 * others of our group may need the terminal too: "foster -- make | less". */
static bool in_pipeline(void) {
  struct file_facts facts;
  for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
    if (call_stat(fd, "", &facts) == 0 &&
        (S_ISFIFO(facts.mode) || S_ISSOCK(facts.mode)))
      return true;
  return false;
}

void terminal_find(struct terminal *terminal) {
  /* One call says whether there is a controlling terminal (ENXIO: none), also
   * where stdin, stdout and stderr lead elsewhere. */
  int fd = descriptor_of_ours(call_open("/dev/tty", O_RDWR | O_NOCTTY));
  if (fd < 0 && errno == ENXIO)
    return;
  /* No /dev/tty here, or it is denied: then whichever of the three it is. */
  for (int i = STDIN_FILENO; fd < 0 && i <= STDERR_FILENO; i++)
    if (call_foreground(i) >= 0)
      fd = i;
  if (fd < 0)
    return;

  pid_t group = getpgrp();
  if (group == 0) {
    /* A shell outside our PID namespace has made our group. The foreground
     * could be taken from it, but never be given back. */
    terminal->stay = call_foreground(STDIN_FILENO) >= 0;
    return;
  }
  terminal->fd = fd;
  terminal->own_group = group;
  terminal->on_demand = in_pipeline();
  terminal->handed_over = !terminal->on_demand && call_foreground(fd) == group;
}

void terminal_set_foreground(const struct terminal *terminal, pid_t group) {
  if (terminal->fd >= 0)
    (void)call_set_foreground(terminal->fd, group);
}

static void hand_over(struct init *init) {
  terminal_set_foreground(&init->terminal, init->entrypoint.pid);
  init->terminal.handed_over = true;
  init->terminal.received = 0;
}

static pid_t foreground(const struct terminal *terminal) {
  return terminal->fd < 0 ? -1 : call_foreground(terminal->fd);
}

static bool has_foreground(const struct terminal *terminal) {
  return terminal->fd >= 0 && foreground(terminal) == terminal->own_group;
}

/* Is the entrypoint in our group, which others have made? */
static bool shares_group(const struct init *init) {
  return init->terminal.stay && getpgid(init->entrypoint.pid) == 0;
}

void terminal_continue(struct init *init) {
  struct terminal *terminal = &init->terminal;
  bool ours = has_foreground(terminal);
  if (ours && !terminal->on_demand)
    hand_over(init);
  else if (ours || foreground(terminal) != init->entrypoint.pid)
    terminal->handed_over = false; /* the shell took it when we were stopped */
  terminal->resumed = 0; /* what asks for it now has not asked before */
  terminal->stopped = false;
}

bool terminal_signal(struct init *init, int signal, bool from_kernel) {
  struct terminal *terminal = &init->terminal;
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (shares_group(init)) {
    if (wants_terminal || signal == SIGTSTP) {
      terminal->stopped = true;
      terminal->resume_at = NEVER;
    }
    return from_kernel;
  }
  if (!from_kernel)
    return false;
  terminal->received |= signal_bit(signal);
  if (!wants_terminal || !terminal->handed_over ||
      foreground(terminal) != init->entrypoint.pid)
    return false;
  terminal_set_foreground(terminal, terminal->own_group);
  terminal->handed_over = false;
  kill(0, SIGCONT);
  return true;
}

void terminal_resume(struct init *init) {
  init->terminal.resumed = now();
  init->terminal.resume_at = NEVER;
  kill(-getpgid(init->entrypoint.pid), SIGCONT); /* 0: of others' making */
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

/* Stop `target`, us or our own group, with `signal`. Returns when we have been
 * continued, or at once, false, where the kernel refuses: nobody could resume
 * an orphaned group (setpgid(2)). */
static bool stop_ourselves(pid_t target, int signal) {
  signal_mask pending;
  call_sigaction(signal, SIG_DFL);
  kill(target, signal); /* also discards a pending SIGCONT (signal(7)) */
  signals_set_mask(~signal_bit(signal));
  /* Stopped here, until a SIGCONT, which then waits in the signalfd. */
  signals_set_mask(~(signal_mask)0);
  return syscall(SYS_rt_sigpending, &pending, sizeof pending) == 0 &&
         pending & signal_bit(SIGCONT);
}

void terminal_stopped(struct init *init, int signal) {
  struct terminal *terminal = &init->terminal;
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  const bool leader = init->pid1 || getsid(0) == init->pid;
  terminal->resume_at = NEVER;

  /* What is explicit is for somebody to resume who knows of it, but a shell
   * that waits for us has to get its terminal back. */
  if (signal == SIGSTOP ? leader || !terminal->handed_over
                        : signal != SIGTSTP && !wants_terminal)
    return;
  /* In a group that is not ours, others resume it, unless they have done so
   * before it stopped. The stop may be known here before the ^Z is. */
  if (shares_group(init)) {
    if (!terminal->stopped)
      terminal->resume_at = now() + SECOND;
    return;
  }

  if (wants_terminal && has_foreground(terminal)) {
    hand_over(init);
    resume_soon(init);
    return;
  }

  if (leader) {
    /* The terminal may still be with a group of which nobody is left. */
    pid_t group = foreground(terminal);
    if (wants_terminal && group > 0 && kill(-group, 0) < 0 && errno == ESRCH)
      hand_over(init);
    resume_soon(init);
    return;
  }

  /* A stop from the terminal is for all that the shell started with us. */
  bool all = wants_terminal || (signal == SIGTSTP && terminal->handed_over);
  if (terminal->handed_over) {
    terminal_set_foreground(terminal, terminal->own_group);
    terminal->handed_over = false;
  }
  if (!stop_ourselves(all ? 0 : init->pid,
                      signal == SIGSTOP ? SIGTSTP : signal)) {
    terminal_continue(init);
    if (signal != SIGSTOP)
      resume_soon(init);
  }
}

void terminal_give_back(const struct init *init) {
  const struct terminal *terminal = &init->terminal;
  /* It may also have taken it by itself. */
  if (terminal->handed_over ||
      (terminal->fd >= 0 && foreground(terminal) == init->entrypoint.pid))
    terminal_set_foreground(terminal, terminal->own_group);
}

void terminal_die_alike(const struct init *init) {
  const struct entrypoint *entrypoint = &init->entrypoint;
  if (init->pid1 || !entrypoint->ended || !WIFSIGNALED(entrypoint->wstatus) ||
      !has_foreground(&init->terminal))
    return;
  int signal = WTERMSIG(entrypoint->wstatus);
  if ((signal != SIGINT && signal != SIGQUIT) ||
      (init->forwarded & signal_bit(signal)) ||
      init->options.expected[128 + signal])
    return;

  call_prctl(PR_SET_DUMPABLE, 0); /* SIGQUIT's core dump was the program's */
  call_sigaction(signal, SIG_DFL);
  /* For all of our group, unless the terminal has done so. */
  bool received = init->terminal.received & signal_bit(signal);
  kill(received ? init->pid : 0, signal);
  signals_set_mask(~signal_bit(signal));
}
