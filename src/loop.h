/* The life of init while the entrypoint runs. */
#ifndef FOSTER_LOOP_H
#define FOSTER_LOOP_H

#include "init.h"

/* Forward signals and reap until the entrypoint has ended, or, with -P, until
 * a SIGTERM or SIGINT. Sleeps in one read; wakes for nothing but signals and,
 * once a clock was started (-t, -p), its deadline. */
void loop(struct init *init);

#endif
