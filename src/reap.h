/* Waiting for children. */
#ifndef FOSTER_REAP_H
#define FOSTER_REAP_H

#include "init.h"

/* How many waits before the signals are looked at again: an unbounded loop
 * starves them for as long as children keep dying. */
enum { REAP_BATCH = 64 };

enum reap_result {
  REAP_IDLE,   /* children are left, none of them has ended */
  REAP_MORE,   /* the batch was full: look at the signals, then go on */
  REAP_NOBODY, /* no children at all */
};

/* Reap up to REAP_BATCH children of any kind, never blocking. Notes the
 * entrypoint's end (and then stops, with REAP_MORE), and hands its stops to the
 * terminal. */
enum reap_result reap(struct init *init);

/* What a wait status means as an exit code: its own, or 128+N for a death by
 * signal N ("Shell & Utilities", POSIX, 2.8.2). */
int exit_code_of(int wstatus);

/* "exit code 3" or "killed by SIGTERM (core dumped)", as a brief() text. */
const char *end_words(int wstatus);

#endif
