/* The life of init while the entrypoint runs. */
#ifndef FOSTER_LOOP_H
#define FOSTER_LOOP_H

#include "init.h"

/* Forward signals and reap until the entrypoint has ended, or, with -P, until
 * a SIGTERM or SIGINT: then true. False once it is `until`, a time or NEVER.
 * Sleeps in one read; wakes for nothing but signals, `until` and, once a clock
 * was started (-t, -p), its deadline. */
bool loop(struct init *init, nanoseconds until);

#endif
