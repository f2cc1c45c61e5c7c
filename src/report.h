/* --report: one JSON object about a run that has ended. */
#ifndef FOSTER_REPORT_H
#define FOSTER_REPORT_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "status.h"

/* How the run ended. */
struct ending {
  int exit_code; /* what foster exits with */
  int signal;    /* that killed the entrypoint, or 0 */
  bool core_dumped;
  bool oom_kill;               /* the OOM killer struck during the run */
  unsigned killed_after_grace; /* processes that init had to kill */
  const struct rusage *usage;  /* the entrypoint's */
  const char *error;           /* why there was no entrypoint, or NULL */
};

/* Open the report file for writing, before the spawn, and empty it, so that no
 * older report is taken for this run's; "/dev/stdout" and "/dev/stderr" are
 * duplicated instead. Never blocks. Returns a descriptor, close-on-exec and 3
 * or higher, or -1 with errno as open(2); ENXIO: a FIFO that nobody reads. */
int report_open(const char *path);

/* Write the report to a descriptor from report_open(), in one write that never
 * blocks. To be called when the entrypoint has ended, and with `final` just
 * before init exits: this second report replaces the first in a regular file
 * that is ours alone, and is not written anywhere else. Where there was no
 * entrypoint (`error` is set) the final one is the only one, and written to
 * anything. What cannot be written is warned of once in all. */
void report_write(int fd, const char *path, const struct status *status,
                  const struct ending *ending, bool final);

/* As rusage has it. */
nanoseconds from_timeval(struct timeval time);

#endif
