#include "forward.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"
#include "signals.h"
#include "terminal.h"

/* pidfd_send_signal(2): to every member of the group. Linux 6.9. */
enum { TO_PROCESS_GROUP = 1 << 2 };

/* Send a queued signal on with its value. The kernel lets us speak for others
 * only where si_code is negative and not SI_TKILL, which is what queued means.
 * Returns 0, or -1 where the kernel does not allow or know it: EINVAL, ENOSYS,
 * EPERM, and EAGAIN over RLIMIT_SIGPENDING. */
static int send_queued(struct init *init, pid_t target, int signal,
                       const struct signalfd_siginfo *received) {
  siginfo_t info = {0};
  info.si_signo = signal;
  info.si_code = received->ssi_code;
  info.si_pid = (pid_t)received->ssi_pid;
  info.si_uid = received->ssi_uid;
  info.si_ptr = (void *)(uintptr_t)received->ssi_ptr;

  struct entrypoint *entrypoint = &init->entrypoint;
  if (target > 0)
    return (int)syscall(SYS_rt_sigqueueinfo, target, signal, &info);
  /* Its number is pinned until we reap it, so this is early enough. */
  if (entrypoint->pidfd < 0)
    entrypoint->pidfd =
        descriptor_of_ours((int)syscall(SYS_pidfd_open, entrypoint->pid, 0));
  return (int)syscall(SYS_pidfd_send_signal, entrypoint->pidfd, signal, &info,
                      TO_PROCESS_GROUP);
}

static void send_signal(struct init *init, int signal,
                        const struct signalfd_siginfo *received) {
  pid_t pid = init->entrypoint.pid;
  /* A program that has moved to another group is still to be reached. */
  pid_t target = init->options.single_child || getpgid(pid) != pid ? pid : -pid;
  bool queued = received->ssi_code < 0 && received->ssi_code != SI_TKILL;

  /* Of what the terminal sends to our group others die as well: it is not our
   * doing then. */
  if (received->ssi_code != SI_KERNEL)
    init->forwarded |= signal_bit(signal);
  if (signal == SIGTERM && target < 0)
    init->term_forwarded = now();
  if (queued && send_queued(init, target, signal, received) == 0)
    return;
  if (kill(target, signal) == 0 || errno == ESRCH)
    return;
  if (!init->warned_eperm)
    log_line(LOG_FAILURE, "cannot forward %s to process %d",
             signal_name(signal), (int)pid);
  init->warned_eperm = true;
}

void forward_own(struct init *init, int signal) {
  log_line(LOG_VERBOSE, "sending %s to process %d", signal_name(signal),
           (int)init->entrypoint.pid);
  if (signal == SIGCONT)
    terminal_continue(init);
  const struct signalfd_siginfo own = {.ssi_code = SI_USER};
  send_signal(init, signal, &own);
}

void forward(struct init *init, const struct signalfd_siginfo *received) {
  int from = (int)received->ssi_signo;
  if (terminal_signal(init, from, received->ssi_code == SI_KERNEL))
    return;
  int to = init->options.rewrite[from];
  if (to == 0) {
    log_line(LOG_VERBOSE, "dropped %s from process %d (uid %u)",
             signal_name(from), (int)received->ssi_pid, received->ssi_uid);
    return;
  }
  if (log_level >= LOG_VERBOSE) /* the names need not be made otherwise */
    log_line(LOG_VERBOSE, "forwarding %s from process %d (uid %u) as %s",
             signal_name(from), (int)received->ssi_pid, received->ssi_uid,
             signal_name(to));
  if (to == SIGCONT)
    terminal_continue(init);
  send_signal(init, to, received);
  status_begin(init->status);
  init->status->signals_forwarded[from]++;
  status_end(init->status);
}
