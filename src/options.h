/* The command line and the environment, parsed. Pure: nothing is done, printed
 * or changed here, apart from FOSTER_OPTIONS' own text (see below). */
#ifndef FOSTER_OPTIONS_H
#define FOSTER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "log.h"
#include "signames.h"

/* Nanoseconds; how every duration and every point of CLOCK_MONOTONIC is kept.
 */
typedef int64_t nanoseconds;
#define SECOND ((nanoseconds)1000000000)
#define NEVER INT64_MAX /* the deadline that does not come; "inf" */

enum action {
  ACTION_RUN,
  ACTION_PAUSE,  /* -P: run no program */
  ACTION_STATUS, /* --status */
  ACTION_HELP,   /* the rest print a text to stdout */
  ACTION_VERSION,
  ACTION_LICENSE,
};

struct options {
  enum action action;
  char **command; /* PROGRAM ARG... as execve(2) wants them; NULL with -P */
  bool single_child;
  bool subreaper;
  bool warn_on_reap;
  enum log_level log_level;
  nanoseconds kill_after;                /* NEVER: inf */
  nanoseconds stop_timeout;              /* NEVER: not given */
  int parent_death;                      /* a signal, or 0 */
  pid_t status_pid;                      /* 0: not given */
  const char *report;                    /* a path, or NULL */
  unsigned char rewrite[SIGNAL_MAX + 1]; /* by number received; 0 drops it */
  bool expected[256];                    /* exit codes that are reported as 0 */
};

/* Parse. argv is main's; envp the environment; secure (AT_SECURE) says that
 * the environment is not to be read at all. The words of FOSTER_OPTIONS are cut
 * apart where they stand, and options point into them and into argv.
 * Returns 0, or -1 with one line in `error` that names the culprit and what
 * would be right. What cannot be understood in TINI_* and DUMB_INIT_* variables
 * is put into `warning`, which stays empty otherwise. */
int options_parse(struct options *options, char **argv, char **envp,
                  bool secure, struct line *error, struct line *warning);

/* Take FOSTER_OPTIONS out of the environment, so that a nested foster starts
 * afresh. The rest keeps its order. */
void options_forget(char **envp);

/* The texts of --help, --version and --license, newline at the end. */
const char *options_text(enum action action);

#endif
