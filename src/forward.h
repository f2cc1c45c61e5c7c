/* Passing signals on to the entrypoint. */
#ifndef FOSTER_FORWARD_H
#define FOSTER_FORWARD_H

#include <sys/signalfd.h>

#include "init.h"

/* Forward one received signal as options.rewrite says, to the entrypoint's
 * group, or to it alone with -c; with its value, if it was queued with one.
 * Errors are survived: EPERM (a set-user-ID entrypoint) is warned of once,
 * ESRCH means that the end is near. The entrypoint must not be reaped yet. */
void forward(struct init *init, const struct signalfd_siginfo *received);

/* Send a signal of init's own (-p). */
void forward_own(struct init *init, int signal);

#endif
