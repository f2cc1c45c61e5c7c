/* Which descriptors init keeps. */
#ifndef FOSTER_DESCRIPTORS_H
#define FOSTER_DESCRIPTORS_H

#include "init.h"

/* Move a new descriptor of ours to 3 or higher, close-on-exec: it must not
 * stand where the program or init itself expects stdin, stdout or stderr, which
 * may have been closed at the start. Takes what open(2) and its like return.
 * Returns the descriptor, or -1 with errno. */
int descriptor_of_ours(int fd);

/* Let go of what is not ours: chdir to /, close stdin, stdout and all from 3 up
 * that are not init's own; stderr stays for messages. A reader of the program's
 * output sees EOF when the program closes it, a file system can be unmounted.
 */
void descriptors_let_go(const struct init *init);

#endif
