/* How a process was killed, and whether the kernel's OOM killer was at it. */
#ifndef FOSTER_DEATH_H
#define FOSTER_DEATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "log.h"

/* Say which signal killed a process (its wait status must tell of one), e.g.
 * "java (pid 7) was killed by SIGSEGV (core dumped)". For SIGKILL also who sent
 * it: struck is what oom_struck() returned. */
void explain_death(struct line *line, const char *name, pid_t pid, int wstatus,
                   long struck);

/* How many times the kernel's OOM killer has struck in our own memory cgroup
 * (v2 memory.events, v1 memory.oom_control; see cgroups(7)): a count that only
 * grows, or -1 where it cannot be read. */
long oom_kills(void);

/* How many times since oom_kills() was `before`: -1 if that is not known, or if
 * the cgroup that was looked at is not certainly ours. */
long oom_struck(long before);

/* oom_kills() where "/" is `root`, for fixtures. certain: as oom_struck(). */
long oom_kills_under(const char *root, bool certain);

/* If this line of /proc/self/cgroup, cut apart here, is about the memory
 * controller (or about v2, which may have it), return the cgroup's path. */
const char *memory_cgroup(const char *line, bool *v1);

#endif
