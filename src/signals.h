/* Blocking and receiving signals. */
#ifndef FOSTER_SIGNALS_H
#define FOSTER_SIGNALS_H

#include <signal.h>

#include "init.h"

/* What the program is to get back before its exec. */
struct signal_state {
  signal_mask mask;
  bool sigchld_ignored;
};

/* Block every signal and make the signalfd that receives them; put back an
 * ignored SIGCHLD, which would keep every exit status from us. `before` is what
 * init was given. Sets init->signals. Returns 0, or -1 with errno as
 * signalfd(2). */
int signals_block(struct init *init, struct signal_state *before);

/* Block exactly `mask`. Raw: sigprocmask(3) of a libc leaves out its own
 * real-time signals. Returns 0, or -1 with errno. */
int signals_set_mask(signal_mask mask);

/* Receive up to SIGNAL_BATCH signals into init->records, waiting until
 * `deadline`: NEVER, or a time (one that has passed: look without waiting).
 * Returns how many. */
int signals_receive(struct init *init, nanoseconds deadline);

/* A SIGTERM or SIGINT asks us to stop. */
bool is_stop_signal(int signal);

/* The bit of a signal in a mask. */
static inline signal_mask signal_bit(int signal) {
  return (signal_mask)1 << (signal - 1);
}

#endif
