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
    "Run PROGRAM as a container's entrypoint: forward signals, reap orphans,\n"
    "let nothing outlive it.\n"
    "\n"
    "  -c, --single-child         forward to the entrypoint, not to its group\n"
    "  -g                         forward to the group: the default\n"
    "  -s, --subreaper            adopt and drain orphans without being PID 1\n"
    "  -r, --rewrite=FROM:TO      forward signal FROM as TO; none drops it\n"
    "  -k, --kill-after=SECONDS   grace period of the drain (5), or inf\n"
    "  -t, --stop-timeout=SECONDS SIGKILL so long after a stop signal (inf)\n"
    "  -e, --expect=CODE          report exit code CODE as 0\n"
    "  -p, --parent-death=SIGNAL  forward SIGNAL and drain if the parent dies\n"
    "  -P, --pause                run no program: reap until a stop signal\n"
    "  -w, --warn-on-reap         one line for each orphan reaped\n"
    "  -R, --report=FILE          write a JSON report of the run to FILE\n"
    "      --status[=PID]         print a running foster's state as JSON\n"
    "  -v, --verbose              say more; twice for every signal and wait\n"
    "  -l, --license  -h, --help  -V, --version\n"
    "\n"
    "Repeatable: -e, -r. SIGTERM and SIGINT are stop signals. FOSTER_OPTIONS\n"
    "holds options too, read first.\n"
    "Exit status: the entrypoint's; 128+N if signal N killed it; 125 foster\n"
    "failed; 126 not runnable; 127 not found.\n";

static const char license[] =
    "foster, under the MIT License\n"
    "\n"
    "Copyright (c) 2026 the foster authors\n"
    "\n"
    "Permission is hereby granted, free of charge, to any person obtaining a\n"
    "copy of this software and associated documentation files (the\n"
    "\"Software\"), to deal in the Software without restriction, including\n"
    "without limitation the rights to use, copy, modify, merge, publish,\n"
    "distribute, sublicense, and/or sell copies of the Software, and to\n"
    "permit persons to whom the Software is furnished to do so, subject to\n"
    "the following conditions:\n"
    "\n"
    "The above copyright notice and this permission notice shall be included\n"
    "in all copies or substantial portions of the Software.\n"
    "\n"
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND,\n"
    "EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF\n"
    "MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.\n"
    "IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY\n"
    "CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT,\n"
    "TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE\n"
    "SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.\n";

/* dockerd looks for just this form in what an init says of itself. */
#define VERSION "tini version " FOSTER_VERSION "-foster"

const char *options_text(enum action action) {
  if (action == ACTION_VERSION)
    return sizeof(FOSTER_COMMIT) > 1 ? VERSION " - git." FOSTER_COMMIT "\n"
                                     : VERSION "\n";
  return action == ACTION_LICENSE ? license : help;
}
