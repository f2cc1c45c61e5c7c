#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "descriptors.h"

static const signal_mask every_signal = ~(signal_mask)0;

nanoseconds now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail */
  return time.tv_sec * SECOND + time.tv_nsec;
}

nanoseconds later(nanoseconds time, nanoseconds span) {
  return time == NEVER || span == NEVER ? NEVER : time + span;
}

void signals_set_mask(signal_mask mask) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

int signals_block(struct init *init, struct signal_state *before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every_signal, &before->mask,
          sizeof every_signal);

  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &standard, &before->sigchld);

  init->signals = descriptor_of_ours((int)syscall(
      SYS_signalfd4, -1, &every_signal, sizeof every_signal, SFD_CLOEXEC));
  return init->signals < 0 ? -1 : 0;
}

/* Is there something to read? Waits until the deadline. */
static bool readable(int fd, nanoseconds deadline) {
  nanoseconds left = deadline - now();
  if (left < 0)
    left = 0;
  struct timespec timeout = {.tv_sec = (time_t)(left / SECOND),
                             .tv_nsec = (long)(left % SECOND)};
  struct pollfd poll = {.fd = fd, .events = POLLIN};
  return ppoll(&poll, 1, &timeout, NULL) > 0;
}

int signals_receive(const struct init *init,
                    struct signalfd_siginfo records[SIGNAL_BATCH],
                    nanoseconds deadline) {
  if (deadline != NEVER && !readable(init->signals, deadline))
    return 0;
  ssize_t length;
  do
    length = read(init->signals, records, SIGNAL_BATCH * sizeof *records);
  while (length < 0 && errno == EINTR);
  return length < 0 ? 0 : (int)((size_t)length / sizeof *records);
}

bool is_stop_signal(int signal) {
  return signal == SIGTERM || signal == SIGINT;
}
