/* The state of one run. main() holds it; everybody else gets a pointer. */
#ifndef FOSTER_INIT_H
#define FOSTER_INIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "options.h"
#include "status.h"

/* foster's own exit code: usage, fork, ... */
enum { EXIT_FOSTER = 125 };

/* The kernel's signal set, whatever the libc makes of it: libcs keep real-time
 * signals out of sigfillset(3) for themselves. */
typedef uint64_t signal_mask;

struct entrypoint {
  pid_t pid;        /* also the number of its group */
  const char *path; /* the file that was executed; NULL if unknown */
  int pidfd;        /* opened at the first queued signal; -1 before */
  bool ended;       /* reaped: from here on pid is nobody's */
  bool killed;      /* by init, at the deadline of -t or -p */
  int wstatus;
};

struct terminal {
  int fd;           /* the controlling terminal, or -1 */
  pid_t own_group;  /* init's own */
  bool handed_over; /* our group had the foreground, the entrypoint's got it */
  bool on_demand;   /* it gets it when it wants it: others may want it too */
  bool stay;    /* the entrypoint stays in our group, which others have made */
  bool stopped; /* then: that group was, and has not been resumed */
  signal_mask received;  /* what our group got while it had the foreground */
  nanoseconds resumed;   /* when init last answered a stop with SIGCONT */
  nanoseconds resume_at; /* when to answer one that nobody else could */
};

/* How many signals one read takes at most: a record has 128 bytes, and more
 * than a few are pending only in a storm. */
enum { SIGNAL_BATCH = 16 };

/* Points of time are CLOCK_MONOTONIC; NEVER where there is none. What is used
 * most comes first: a byte says how far away it is, up to 127. */
struct init {
  struct status *status;
  struct entrypoint entrypoint;
  struct terminal terminal;
  int signals; /* the signalfd */
  int report;  /* the report's descriptor, or -1 */
  pid_t pid;
  pid_t parent; /* getppid() at the start; 0 if outside our namespace */
  bool pid1;
  bool adopts;  /* PID 1 or a subreaper: orphans come to us, and we drain */
  bool foreign; /* had children before the spawn: not ours to tell or kill */
  bool warned_eperm;
  bool killing;               /* the drain's grace period is over */
  unsigned killed;            /* how many ended of SIGKILL then */
  signal_mask forwarded;      /* bit n-1: signal n was sent to the entrypoint */
  nanoseconds kill_at;        /* SIGKILL the entrypoint: -t, or -p and -k */
  nanoseconds term_forwarded; /* to the group, as SIGTERM, the last time */
  nanoseconds first_stop;     /* SIGTERM or SIGINT, not dropped; with -p also
                                 the parent's death */
  nanoseconds last_stop;
  struct options options;
  struct rusage usage; /* the entrypoint's, once it has ended */
  struct signalfd_siginfo records[SIGNAL_BATCH]; /* the last that came */
};

/* For large arrays that are rarely touched: the linker sorts them behind all
 * small data, libc's too, so that those share a page. */
#define BEHIND_SMALL_DATA __attribute__((section(".bss.~")))

/* CLOCK_MONOTONIC. */
nanoseconds now(void);

nanoseconds earlier(nanoseconds one, nanoseconds other);

/* time + span, where both may be NEVER. */
nanoseconds later(nanoseconds time, nanoseconds span);

#endif
