/* foster: a minimal container init. This file is the life of the process. */
#include <errno.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "children.h"
#include "descriptors.h"
#include "drain.h"
#include "explain.h"
#include "init.h"
#include "loop.h"
#include "parent.h"
#include "reap.h"
#include "report.h"
#include "scan.h"
#include "signals.h"
#include "spawn.h"
#include "status_reader.h"
#include "terminal.h"

/* A program that is over sooner does not wait for what serves only longer ones:
 * the page for --status, and the count of OOM kills before it. */
static const nanoseconds short_life = SECOND / 100;

/* The options that print something and are done. */
static int answer(const struct options *options) {
  if (options->action == ACTION_STATUS)
    return status_print(options->status_pid);
  const char *text = options_text(options->action);
  return print(text, length_of(text)) ? 0 : EXIT_FOSTER;
}

/* Adopt orphans although not PID 1. Sandboxes refuse it. */
static bool become_subreaper(void) {
  if (call_prctl(PR_SET_CHILD_SUBREAPER, 1) == 0)
    return true;
  log_line(LOG_FAILURE, "-s: cannot be a subreaper");
  return false;
}

/* The exec failed: say why, and with which exit code a shell would. */
static int exec_failed(struct init *init, const struct spawn_failure *failure,
                       struct ending *ending) {
  static char text[1024] BEHIND_SMALL_DATA;
  struct line line = LINE(text);
  if (failure->path || failure->search) {
    explain_exec(&line, init->options.command[0], failure->path,
                 failure->search, failure->error);
    ending->exit_code = explain_exit_code(failure->path, failure->error);
  } else {
    line_format(&line, "cannot fork: %s", error_words(failure->error));
    ending->exit_code = EXIT_FOSTER;
  }
  log_line(LOG_WARNING, "%s", text);
  ending->error = text;
  return ending->exit_code;
}

static void start_status(struct init *init) {
  const struct options *options = &init->options;
  enum status_mode mode = init->pid1     ? MODE_PID1
                          : init->adopts ? MODE_SUBREAPER
                                         : MODE_PLAIN;
  status_start(init->status, init->pid, mode,
               options->command ? options->command[0] : NULL);
  init->status->entrypoint_pid = init->entrypoint.pid;
}

static void say_start(const struct init *init) {
  log_line(LOG_VERBOSE, "process %d: started process %d (%s)", (int)init->pid,
           (int)init->entrypoint.pid,
           init->options.command ? init->options.command[0] : "none: --pause");
}

/* A reader of the program's output sees EOF when the program closes it, a file
 * system can be unmounted. */
static void let_go(struct init *init) {
  /* "/" cannot be missing; where it is not to be entered we stay. */
  if (chdir("/") != 0)
    log_line(LOG_VERBOSE, "chdir to /: %s", error_words(errno));
  descriptors_close(init, STDIN_FILENO, INT_MAX);
}

/* The end in one line: how, after what time, and what it cost. */
static void say_ending(const struct init *init) {
  if (log_level < LOG_VERBOSE)
    return;
  const struct rusage *usage = &init->usage;
  log_line(LOG_VERBOSE,
           "process %d (%s) ended: %s; ran %s s, user %s s, system %s s, "
           "at most %llu KiB; %llu orphans reaped",
           (int)init->entrypoint.pid, init->status->command,
           end_words(init->entrypoint.wstatus),
           seconds(now() - init->status->start_monotonic),
           seconds(from_timeval(usage->ru_utime)),
           seconds(from_timeval(usage->ru_stime)),
           (unsigned long long)usage->ru_maxrss,
           (unsigned long long)init->status->orphans_reaped);
}

/* Why it ended so, where that does not explain itself. */
__attribute__((noinline)) static void explain_ending(const struct init *init,
                                                     char **envp, long struck) {
  const struct entrypoint *entrypoint = &init->entrypoint;
  int wstatus = entrypoint->wstatus;
  char text[1024];
  struct line line = LINE(text);
  if (exit_code_of(wstatus) == 127 && entrypoint->path)
    explain_env(&line, entrypoint->path, environment_value(envp, "PATH"));
  /* Its own ^C, a signal that went through us and our own SIGKILL explain
   * themselves. */
  if (WIFSIGNALED(wstatus) && !entrypoint->killed &&
      !(init->forwarded & signal_bit(WTERMSIG(wstatus))) &&
      !(WTERMSIG(wstatus) == SIGINT &&
        (init->terminal.fd >= 0 || init->terminal.stay)))
    explain_death(&line, init->status->command, entrypoint->pid, wstatus,
                  struck);
  if (line.length > 0)
    log_line(LOG_WARNING, "%s", text);
}

/* What became of the entrypoint, for the exit status and the report. */
static void note_ending(const struct init *init, char **envp, long oom_before,
                        struct ending *ending) {
  const struct entrypoint *entrypoint = &init->entrypoint;
  if (!entrypoint->ended)
    return; /* -P: 0 */
  say_ending(init);
  int wstatus = entrypoint->wstatus;
  int code = exit_code_of(wstatus);
  ending->exit_code = init->options.expected[code] ? 0 : code;
  /* To look costs more than the rest of an ordinary end. */
  long struck =
      WIFSIGNALED(wstatus) || init->report >= 0 ? oom_struck(oom_before) : -1;
  ending->oom_kill = struck > 0;

  if (WIFSIGNALED(wstatus)) {
    ending->signal = WTERMSIG(wstatus);
    ending->core_dumped = WCOREDUMP(wstatus) != 0;
  }
  if (code >= 127)
    explain_ending(init, envp, struck);
}

/* AT_SECURE: a set-user-ID start or the like. The auxiliary vector is behind
 * the environment; getauxval(3) has its own ideas of some of it. */
static bool is_secure(char **envp) {
  while (*envp++ != NULL) {
  }
  const unsigned long *auxiliary = (const unsigned long *)envp;
  while (auxiliary[0] != AT_NULL && auxiliary[0] != AT_SECURE)
    auxiliary += 2;
  return auxiliary[0] == AT_SECURE && auxiliary[1] != 0;
}

/* Parse, and say what cannot be understood. The buffers are zero at the start,
 * so LINE would only touch a page for nothing. */
__attribute__((noinline)) static bool understand(struct options *options,
                                                 char **argv, char **envp) {
  static char message[512] BEHIND_SMALL_DATA, doubts[512] BEHIND_SMALL_DATA;
  struct line error = {.text = message, .size = sizeof message};
  struct line warning = {.text = doubts, .size = sizeof doubts};
  if (options_parse(options, argv, envp, is_secure(envp), &error, &warning) <
      0) {
    log_line(LOG_WARNING, "%s", message);
    return false;
  }
  if (options->action > ACTION_PAUSE)
    return true;
  log_level = options->log_level;
  if (warning.length > 0)
    log_line(LOG_WARNING, "%s", doubts);
  return true;
}

/* What became of it, also as a report. */
static void report(const struct init *init, const struct ending *ending,
                   bool final) {
  if (init->report >= 0)
    report_write(init->report, init->options.report, init->status, ending,
                 final);
}

/* From the options to the exit code. */
__attribute__((noinline)) static int live(struct init *init, char **envp) {
  const struct options *options = &init->options;
  struct ending ending = {.usage = &init->usage};

  /* 2. From here on no signal is lost: all wait in the signalfd. */
  struct signal_state before;
  if (signals_block(init, &before) < 0) {
    log_line(LOG_FAILURE, "cannot receive signals");
    return EXIT_FOSTER;
  }
  init->pid1 = init->pid == 1;
  init->adopts = init->pid1 || (options->subreaper && become_subreaper());
  if (init->adopts)
    children_note_foreign(init);
  if (options->report) {
    init->report = report_open(options->report);
    if (init->report < 0) {
      log_line(LOG_FAILURE, "%s: cannot open the report", options->report);
      return EXIT_FOSTER;
    }
  }
  if (options->parent_death) {
    init->parent = getppid();
    if (!parent_watch(init)) {
      log_line(LOG_WARNING, "-p: the parent is dead already");
      return 128 + options->parent_death;
    }
  }

  /* 3. Spawn: when this returns the program has been executed. */
  struct spawn_failure failure;
  if (options->action == ACTION_RUN) {
    terminal_find(&init->terminal);
    if (spawn(init, envp, &before, &failure) < 0) {
      terminal_give_back(init);
      exec_failed(init, &failure, &ending);
      start_status(init);
      report(init, &ending, true);
      return ending.exit_code;
    }
  }

  start_status(init);
  say_start(init);

  /* 4. Let go of what is not ours. */
  let_go(init);
  /* Of a short life a report tells whether the OOM killer struck meanwhile, a
   * message whether it has ever struck here. */
  long oom_before = init->report >= 0 ? oom_kills() : 0;

  /* 5. Live: forward signals, reap orphans. */
  if (!loop(init, init->status->start_monotonic + short_life)) {
    /* From now on init can be looked into. */
    init->status = status_share(init->status);
    if (init->report < 0)
      oom_before = oom_kills();
    loop(init, NEVER);
  }

  /* 6. The entrypoint has ended. Nothing outlives it. */
  terminal_give_back(init);
  note_ending(init, envp, oom_before, &ending);
  report(init, &ending, false);
  drain(init);
  ending.killed_after_grace = init->killed;
  report(init, &ending, true);
  terminal_die_alike(init);
  return ending.exit_code;
}

int main(int argc, char **argv, char **envp) {
  /* Not on the stack: one page for all that is used, and no second one. */
  static struct status status; /* until it is shared */
  static struct init init;
  init.entrypoint.pidfd = -1;
  init.terminal.fd = -1;
  init.terminal.resume_at = NEVER;
  init.status = &status;
  init.report = -1;
  init.pid = getpid();
  init.term_forwarded = NEVER;
  init.first_stop = NEVER;
  init.last_stop = NEVER;
  init.kill_at = NEVER;
  (void)argc;

  /* 1. Understand everything before anything is done. */
  if (!understand(&init.options, argv, envp))
    return EXIT_FOSTER;
  if (init.options.action > ACTION_PAUSE)
    return answer(&init.options);
  options_forget(envp);
  return live(&init, envp);
}
