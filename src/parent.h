/* -p: what to do when init's own parent dies. */
#ifndef FOSTER_PARENT_H
#define FOSTER_PARENT_H

#include <sys/signalfd.h>

#include "init.h"

/* Ask the kernel to tell us of our parent's death (PR_SET_PDEATHSIG). Returns
 * false if the parent is dead already: the call misses that. */
bool parent_watch(struct init *init);

enum parent_news {
  PARENT_NO_NEWS, /* some other signal */
  PARENT_LIVES,   /* only the thread that started us has ended */
  PARENT_DIED,
};

/* Is this signal the kernel's word of our parent's death? */
enum parent_news parent_news(const struct init *init,
                             const struct signalfd_siginfo *received);

#endif
