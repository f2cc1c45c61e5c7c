/* From the command line to a running entrypoint. */
#ifndef FOSTER_SPAWN_H
#define FOSTER_SPAWN_H

#include "init.h"
#include "signals.h"

/* Why there is no entrypoint. */
struct spawn_failure {
  int error;          /* errno of execve, or of vfork where path is NULL */
  const char *path;   /* the file that execve was called with last */
  const char *search; /* the PATH that was searched, NULL for a name with / */
};

/* Start options.command: its own process group, the foreground if ours has it,
 * SIGKILL when init dies (unless PID 1), the signal mask and SIGCHLD action of
 * `before`, then execve with our own PATH search. Returns when the exec is
 * done: 0 with init->entrypoint filled, or -1 with `failure` and nothing left
 * to reap. */
int spawn(struct init *init, char **envp, const struct signal_state *before,
          struct spawn_failure *failure);

#endif
