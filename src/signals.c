#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "descriptors.h"

/* 32-bit machines have two; we speak of 64 bits where there is a choice. */
#ifdef SYS_rt_sigtimedwait_time64
#define FOSTER_SIGTIMEDWAIT SYS_rt_sigtimedwait_time64
#else
#define FOSTER_SIGTIMEDWAIT SYS_rt_sigtimedwait
#endif

static const signal_mask every_signal = ~(signal_mask)0;

nanoseconds now(void) {
  /* If it cannot be read it stands still: back at 0 all deadlines that are
   * counted from there would be over at once. */
  static nanoseconds last;
  nanoseconds time = call_clock(CLOCK_MONOTONIC);
  if (time > last)
    last = time;
  return last;
}

nanoseconds earlier(nanoseconds one, nanoseconds other) {
  return one < other ? one : other;
}

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

/* Milliseconds until the deadline, for poll(2): -1 for ever. */
static int milliseconds_left(nanoseconds deadline) {
  const nanoseconds unit = SECOND / 1000;
  if (deadline == NEVER)
    return -1;
  /* Never early: what is to happen then would be found not to be due yet. */
  nanoseconds left = deadline == 0 ? 0 : (deadline - now() + unit - 1) / unit;
  return left < 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

/* The signalfd cannot be read, or not be waited for, in this sandbox: ask the
 * kernel for a signal without it. */
static int receive_one(struct signalfd_siginfo *record, int milliseconds) {
  const int64_t timeout[] = {milliseconds / 1000,
                             milliseconds % 1000 * (SECOND / 1000)};
  siginfo_t info;
  if (syscall(FOSTER_SIGTIMEDWAIT, &every_signal, &info,
              milliseconds < 0 ? NULL : timeout, sizeof every_signal) < 0)
    return 0;
  record->ssi_signo = (uint32_t)info.si_signo;
  record->ssi_code = info.si_code;
  record->ssi_pid = (uint32_t)info.si_pid;
  record->ssi_uid = info.si_uid;
  record->ssi_ptr = (uintptr_t)info.si_ptr;
  return 1;
}

int signals_receive(struct init *init, nanoseconds deadline) {
  struct pollfd poll_fd = {.fd = init->signals, .events = POLLIN};
  int left = milliseconds_left(deadline);
  int ready = left < 0 ? 1 : poll(&poll_fd, 1, left);
  if (ready == 0)
    return 0;
  if (ready > 0) {
    ssize_t length = read(init->signals, init->records, sizeof init->records);
    if (length >= 0)
      return (int)((size_t)length / sizeof *init->records);
  }
  return errno == EINTR ? 0 : receive_one(init->records, left);
}

bool is_stop_signal(int signal) {
  return signal == SIGTERM || signal == SIGINT;
}
