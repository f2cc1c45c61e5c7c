/* The end: nothing outlives the entrypoint. */
#ifndef FOSTER_DRAIN_H
#define FOSTER_DRAIN_H

#include "init.h"

/* The entrypoint has ended (or init was told to, with -P): tell our children to
 * end, adopt theirs, tell those, until nobody is left or the grace period is
 * over; then kill the rest. Only direct children that are not yet reaped are
 * ever signalled, and by PID 1 its namespace. Returns when nobody is left, or
 * when what is left cannot be killed. Does nothing where orphans do not come to
 * us: neither PID 1 nor a subreaper. */
void drain(struct init *init);

#endif
