/* The clock on a 32-bit kernel before Linux 5.1, or in a sandbox older than
 * that: the call with a number of its own is not to be had. */
#include <sys/syscall.h>

#undef SYS_clock_gettime64
#define SYS_clock_gettime64 9999
#include "../../src/calls.c" /* NOLINT(bugprone-suspicious-include) */

#include "unit.h"

static nanoseconds by_libc(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

int main(void) {
  static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME,
                                     CLOCK_THREAD_CPUTIME_ID};
  for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
    nanoseconds before = by_libc(clocks[i]);
    nanoseconds between = call_clock(clocks[i]);
    CHECK(before <= between && between <= by_libc(clocks[i]));
    CHECK(between > 0);
  }
  return unit_result();
}
