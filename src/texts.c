/* What --help, --version and --license print. */
#include "options.h"

/* The Makefile says which. */
#ifndef FOSTER_VERSION
#define FOSTER_VERSION "0.0.0"
#endif
#ifndef FOSTER_COMMIT
#define FOSTER_COMMIT ""
#endif

static const char help[] =
    "usage: foster [OPTIONS] [--] PROGRAM [ARG...]\n"
    "Run PROGRAM: forward signals, reap orphans, let nothing outlive it.\n"
    "\n"
    "  -c, --single-child\t\tforward to the entrypoint, not to its group\n"
    "  -g\t\t\t\tforward to the group: the default\n"
    "  -s, --subreaper\t\tadopt and drain orphans without being PID 1\n"
    "  -r, --rewrite=FROM:TO\t\tforward signal FROM as TO; none drops it\n"
    "  -k, --kill-after=SECONDS\tgrace period of the drain (5), or inf\n"
    "  -t, --stop-timeout=SECONDS\tSIGKILL so long after a stop signal (inf)\n"
    "  -e, --expect=CODE\t\treport exit code CODE as 0\n"
    "  -p, --parent-death=SIGNAL\tforward SIGNAL and drain if the parent dies\n"
    "  -P, --pause\t\t\trun no program: reap until a stop signal\n"
    "  -w, --warn-on-reap\t\tone line for each orphan reaped\n"
    "  -R, --report=FILE\t\twrite a JSON report of the run to FILE\n"
    "      --status[=PID]\t\tprint a running foster's state as JSON\n"
    "  -v, --verbose\t\t\tsay more; twice for every signal and wait\n"
    "  -l, --license  -h, --help  -V, --version\n"
    "\n"
    "Repeatable: -e, -r. SIGTERM and SIGINT are stop signals. FOSTER_OPTIONS\n"
    "holds options too, read first.\n"
    "Exit status: the entrypoint's; 128+N if signal N killed it; 125 foster\n"
    "failed; 126 not runnable; 127 not found.\n";

/* The notice; the licence itself comes with foster, as `make install` does it.
 */
static const char license[] =
    "foster, Copyright (c) 2026 the foster authors\n"
    "MIT License, without warranty of any kind; its text: foster(1)\n";

/* dockerd looks for just this form in what an init says of itself. */
#define VERSION "tini version " FOSTER_VERSION "-foster"

const char *options_text(enum action action) {
  if (action == ACTION_VERSION)
    return sizeof(FOSTER_COMMIT) > 1 ? VERSION " - git." FOSTER_COMMIT "\n"
                                     : VERSION "\n";
  return action == ACTION_LICENSE ? license : help;
}
