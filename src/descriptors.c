#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
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

static void close_between(unsigned first, unsigned end) {
  if (syscall(SYS_close_range, first, end - 1, 0) == 0)
    return;
  for (unsigned fd = first; fd < end && fd < CLOSE_ONE_BY_ONE; fd++)
    close((int)fd);
}

void descriptors_close(const struct init *init, unsigned first, unsigned last) {
  const unsigned keep[] = {STDERR_FILENO, (unsigned)init->signals,
                           (unsigned)init->terminal.fd, (unsigned)init->report};

  /* From gap to gap between the few that we keep. */
  for (unsigned next; first <= last; first = next + 1) {
    next = last + 1;
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++)
      if (keep[i] >= first && keep[i] < next)
        next = keep[i];
    if (next > first)
      close_between(first, next);
  }
}
