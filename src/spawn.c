#include "spawn.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "explain.h"
#include "scan.h"
#include "terminal.h"

/* Where an unset PATH leads: what container engines set. */
#define DEFAULT_PATH                                                           \
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What the child and init both see: vfork(2) shares the memory until the exec,
 * so no pipe is needed to tell why an exec failed. */
struct attempt {
  const struct init *init;
  char *name; /* PROGRAM; its place in the command is lent to /bin/sh */
  char **envp;
  const struct signal_state *before;
  const char *search;
  volatile bool shared;  /* the child's stores are seen: a real vfork */
  volatile bool gave_up; /* `error` and `path` say why */
  volatile int error;
  const char *volatile path;
};

/* What the child makes between vfork and exec: the file that a PATH search
 * tries, one at a time; the first found of those that cannot be run; and what
 * is new in the environment. A short path, since it comes first, lies in the
 * page of the small data. */
static struct {
  char candidate[PATH_MAX];
  char found[PATH_MAX];
  char pids[2][32];
} made BEHIND_SMALL_DATA;

/* LISTEN_PID and WATCHDOG_PID name the process that systemd's sockets and
 * watchdog are for. If that was us it is now the program (sd_listen_fds(3)). */
static void hand_on_pid(char **envp, pid_t ours) {
  static const char *const names[] = {"LISTEN_PID=", "WATCHDOG_PID="};
  for (; *envp; envp++)
    for (size_t i = 0; i < 2; i++) {
      const char *value = after(*envp, names[i]);
      if (!value || !same(value, brief("%d", (int)ours)))
        continue;
      struct line named = LINE(made.pids[i]);
      line_format(&named, "%s%d", names[i], (int)getpid());
      *envp = made.pids[i];
    }
}

/* execve(2), and for a text without #! what execvp(3) makes of it in POSIX:
 * /bin/sh runs it. musl's own execvp does not, glibc's also tries it with
 * programs for other machines. */
static void try_exec(struct attempt *attempt, char *path) {
  char *shell = (char *)(uintptr_t) "/bin/sh"; /* nobody writes there */
  char **command = attempt->init->options.command;
  attempt->path = path;
  execve(path, command, attempt->envp);
  attempt->error = errno;
  if (errno != ENOEXEC || !is_shell_script(path))
    return;
  /* The place before PROGRAM is always ours: foster's own name, an option or
   * "--" stands there. */
  command[-1] = shell;
  command[0] = path;
  execve(shell, &command[-1], attempt->envp);
  attempt->error = errno;
  command[0] = attempt->name;
}

/* The PATH search of execvp(3). What was found but could not be run wins over
 * what was not found: a denied file, and a script whose interpreter is missing
 * (that is an ENOENT too). */
static void search_and_exec(struct attempt *attempt) {
  const char *search = attempt->search;
  int found_error = 0;

  while (*attempt->name != '\0' &&
         path_next(&search, attempt->name, made.candidate)) {
    try_exec(attempt, made.candidate);
    int error = attempt->error;
    bool go_on = error == ENOENT || error == ENOTDIR || error == EACCES ||
                 error == ESTALE || error == ENODEV || error == ETIMEDOUT;
    if (!go_on)
      return;
    if (!found_error &&
        (error == EACCES || access(made.candidate, F_OK) == 0)) {
      found_error = error;
      memcpy(made.found, made.candidate, sizeof made.found);
    }
  }
  attempt->error = found_error ? found_error : ENOENT;
  attempt->path = found_error ? made.found : NULL;
}

/* The end of the child's way to the program. */
_Noreturn static void run_program(struct attempt *attempt) {
  attempt->init->options.command[0] = attempt->name;
  if (signals_set_mask(attempt->before->mask) < 0) {
    /* A program that hears no signal could not be ended. */
    attempt->error = errno;
    attempt->search = NULL;
  } else if (attempt->search) {
    search_and_exec(attempt);
  } else {
    try_exec(attempt, attempt->name);
  }
  attempt->gave_up = true;
  _exit(explain_exit_code(attempt->path, attempt->error));
}

/* A stop from the terminal before the exec would leave the child stopped and
 * init, which waits for it in the kernel, frozen with it. A signal that is
 * caught does no such thing, and an exec puts caught signals back to their
 * default. So a stop that comes too early only starts the exec again. What was
 * ignored stays ignored. */
static struct attempt *attempt_of_child;
_Noreturn static void discard_stop(int signal) {
  (void)signal;
  run_program(attempt_of_child);
}

static void survive_stops(struct attempt *attempt) {
  static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
  attempt_of_child = attempt;
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
    if (call_sigaction(stops[i], discard_stop) == SIG_IGN)
      call_sigaction(stops[i], SIG_IGN);
}

/* The child, between vfork and exec. It runs on init's memory while init is
 * suspended: it must not return, and may store only to `attempt` and to
 * static buffers. All signals are blocked until the last moment. */
_Noreturn static void become_entrypoint(struct attempt *attempt) {
  const struct init *init = attempt->init;
  attempt->shared = true;

  /* Fails for no child that a vfork made; if it is denied, signals go to the
   * entrypoint alone. */
  if (!init->terminal.stay)
    (void)setpgid(0, 0);
  if (init->terminal.fd >= 0 || init->terminal.stay)
    survive_stops(attempt);
  if (init->terminal.handed_over)
    terminal_set_foreground(&init->terminal, getpgrp());
  if (!init->pid1) {
    /* If init is killed its program is not left running. The call misses a
     * parent that has died before it. */
    call_prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != init->pid)
      _exit(EXIT_FOSTER);
  }
  hand_on_pid(attempt->envp, init->pid);
  if (attempt->before->sigchld_ignored)
    call_sigaction(SIGCHLD, SIG_IGN);
  run_program(attempt);
}

int spawn(struct init *init, char **envp, const struct signal_state *before,
          struct spawn_failure *failure) {
  struct attempt attempt = {.init = init,
                            .name = init->options.command[0],
                            .envp = envp,
                            .before = before};
  if (!last(init->options.command[0], '/')) {
    attempt.search = environment_value(envp, "PATH");
    if (!attempt.search)
      attempt.search = DEFAULT_PATH;
  }

  pid_t pid = vfork();
  if (pid == 0)
    become_entrypoint(&attempt);

  if (pid < 0) {
    *failure = (struct spawn_failure){.error = errno};
    return -1;
  }
  /* Where vfork is a fork (qemu-user, some ports) the child's stores are not
   * seen, and it may not have come to its setpgid yet. EACCES: it has already
   * called exec, so it did. */
  if (!attempt.shared && !init->terminal.stay)
    (void)setpgid(pid, pid);
  if (attempt.gave_up) {
    *failure = (struct spawn_failure){
        .error = attempt.error, .path = attempt.path, .search = attempt.search};
    while (wait4(pid, NULL, __WALL, NULL) < 0 && errno == EINTR) {
    }
    return -1;
  }
  init->entrypoint.pid = pid;
  init->entrypoint.path = attempt.path;
  return 0;
}
