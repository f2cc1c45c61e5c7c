#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "descriptors.h"

static const signal_mask every_signal = ~(signal_mask)0;

nanoseconds now(void) { return call_clock(CLOCK_MONOTONIC); }

nanoseconds later(nanoseconds time, nanoseconds span) {
  return time == NEVER || span == NEVER ? NEVER : time + span;
}

int signals_set_mask(signal_mask mask) {
  return (int)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL,
                      sizeof mask);
}

int signals_block(struct init *init, struct signal_state *before) {
  /* Without either init would hang at its program's end, or die of a signal. */
  signal_handler *sigchld = SIG_ERR;
  if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every_signal, &before->mask,
              sizeof every_signal) == 0)
    sigchld = call_sigaction(SIGCHLD, SIG_DFL);
  if (sigchld == SIG_ERR)
    return -1;
  before->sigchld_ignored = sigchld == SIG_IGN;

  init->signals = descriptor_of_ours((int)syscall(
      SYS_signalfd4, -1, &every_signal, sizeof every_signal, SFD_CLOEXEC));
  return init->signals < 0 ? -1 : 0;
}

/* Is there something to read? Waits until the deadline. */
static bool readable(int fd, nanoseconds deadline) {
  const nanoseconds unit = SECOND / 1000;
  /* Never early: what is to happen then would be found not to be due yet. */
  nanoseconds left = deadline == 0 ? 0 : (deadline - now() + unit - 1) / unit;
  struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
  return poll(&poll_fd, 1,
              left < 0         ? 0
              : left < INT_MAX ? (int)left
                               : INT_MAX) > 0;
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
