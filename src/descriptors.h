/* Which descriptors init keeps. */
#ifndef FOSTER_DESCRIPTORS_H
#define FOSTER_DESCRIPTORS_H

#include "init.h"

/* Move a new descriptor of ours to 3 or higher, close-on-exec: it must not
 * stand where the program or init itself expects stdin, stdout or stderr, which
 * may have been closed at the start. Takes what open(2) and its like return.
 * Returns the descriptor, or -1 with errno. */
int descriptor_of_ours(int fd);

/* Close all from `first` to `last` (at most INT_MAX) but init's own and stderr,
 * which stays for messages. */
void descriptors_close(const struct init *init, unsigned first, unsigned last);

#endif
