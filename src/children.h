/* Our direct children: who they are, and what has been said to them. Until init
 * reaps it the pid of a direct child cannot be reused: to signal one is safe.
 */
#ifndef FOSTER_CHILDREN_H
#define FOSTER_CHILDREN_H

#include "init.h"

/* Remember the children that init already has, inherited across its exec: they
 * are somebody else's. Call before the spawn. Sets init->foreign if there are
 * any. */
void children_note_foreign(struct init *init);

/* Have we any children, zombies and foreign ones included? */
bool children_any(void);

typedef void child_visitor(struct init *init, pid_t pid, void *context);

/* Call visit for each direct child that is not foreign, zombies included. It
 * must not reap: a list that is read while children go omits others. Stops at
 * `deadline`, since under a storm a list may have no end.
 * Without /proc a subreaper tries every number there can be, which takes about
 * a second; PID 1 can signal its whole namespace instead.
 * Returns how many, or -1 where they were not listed. */
int children_visit(struct init *init, child_visitor *visit, void *context,
                   nanoseconds deadline);

/* Is the child alive, as opposed to a zombie? Does not reap it. */
bool child_alive(pid_t pid);

/* After it was sent SIGKILL: has it died of it, or is it about to? */
bool child_killed(pid_t pid);

/* What init remembers of a child until it is reaped. */
enum child_mark {
  CHILD_FOREIGN, /* was there before the spawn */
  CHILD_TOLD,    /* was told to end */
  CHILD_KILLED,  /* was sent SIGKILL */
  CHILD_MARKS,
};

/* Returns false if the child has this mark already. */
bool child_mark(pid_t pid, enum child_mark mark);

/* The child was reaped; its number may come again. */
void child_forget(pid_t pid);

/* Its process_name(), as a brief() text; "?" where /proc does not tell. */
const char *child_name(pid_t pid);

#endif
