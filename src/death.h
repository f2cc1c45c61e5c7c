/* How a process was killed, and whether the kernel's OOM killer was at it. */
#ifndef FOSTER_DEATH_H
#define FOSTER_DEATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "log.h"

/* Say which signal killed a process (its wait status must tell of one), e.g.
 * "java (pid 7) was killed by SIGSEGV (core dumped)". For SIGKILL also who sent
 * it: oom_struck is by how much oom_kills() has grown; negative if unknown. */
void explain_death(struct line *line, const char *name, pid_t pid, int wstatus,
                   long oom_struck);

/* How many times the kernel's OOM killer has struck in our own memory cgroup
 * (v2 memory.events, v1 memory.oom_control; see cgroups(7)): a count that only
 * grows, or -1 where that cannot be read, or might be another cgroup's. */
long oom_kills(void);

/* The same where "/" is `root`: for fixtures. */
long oom_kills_under(const char *root);

/* If this line of /proc/self/cgroup, cut apart here, is about the memory
 * controller (or about v2, which may have it), return the cgroup's path. */
const char *memory_cgroup(const char *line, bool *v1);

#endif
