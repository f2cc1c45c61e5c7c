#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"

/* Where close_range(2) is missing (before Linux 5.9) or denied, descriptors are
 * closed one by one up to this: RLIMIT_NOFILE can be a billion. */
enum { CLOSE_ONE_BY_ONE = 4096 };

int descriptor_of_ours(int fd) {
  if (fd < 0 || fd > STDERR_FILENO)
    return fd;
  int moved = call_fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = errno;
  close(fd);
  /* One of 0, 1, 2 was closed: was it stderr, where messages go? */
  if (call_fcntl(STDERR_FILENO, F_GETFD, 0) < 0)
    log_level = LOG_NONE;
  errno = error;
  return moved;
}

static void close_between(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
    return;
  for (unsigned fd = first; fd <= last && fd < CLOSE_ONE_BY_ONE; fd++)
    close((int)fd);
}

void descriptors_let_go(const struct init *init) {
  const int keep[] = {STDERR_FILENO, init->signals, init->terminal.fd,
                      init->report, -1};
  const int count = sizeof keep / sizeof *keep - 1;

  /* "/" cannot be missing; where it is not to be entered we stay. */
  if (chdir("/") != 0)
    log_line(LOG_VERBOSE, "chdir to /: %s", error_words(errno));

  /* From gap to gap between the few that we keep. */
  unsigned first = 0;
  for (;;) {
    unsigned next = UINT_MAX;
    for (int i = 0; i < count; i++)
      if (keep[i] >= 0 && (unsigned)keep[i] >= first &&
          (unsigned)keep[i] < next)
        next = (unsigned)keep[i];
    if (next == UINT_MAX)
      break;
    if (next > first)
      close_between(first, next - 1);
    first = next + 1;
  }
  close_between(first, INT_MAX);
}
