/* ping-pong COUNT [direct]
 * The program under an init. Its child, in a session of its own, sends SIGUSR1
 * to PID 1; the handler here answers with SIGUSR2. Prints the median of COUNT
 * round trips in microseconds. "direct": the child sends to us, not to PID 1.
 */
#include "bench.h"

#include <signal.h>
#include <sys/wait.h>

static pid_t sender;

static void answer(int signal) {
  (void)signal;
  kill(sender, SIGUSR2);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void send_pings(pid_t target, long count, const sigset_t *pong) {
  double *trips = calloc((size_t)count, sizeof *trips);
  if (trips == NULL)
    err(2, "calloc");
  for (long i = 0; i < count; i++) {
    /* Generous: on a loaded machine a turn can take long. */
    struct timespec limit = {.tv_sec = 10};
    double start = now();
    if (kill(target, SIGUSR1) == -1)
      err(2, "kill");
    if (sigtimedwait(pong, NULL, &limit) == -1)
      err(2, "ping %ld got no answer", i);
    trips[i] = now() - start;
  }
  qsort(trips, (size_t)count, sizeof *trips, compare);
  printf("%.2f\n", trips[count / 2]);
}

int main(int argc, char **argv) {
  if (argc < 2)
    errx(2, "usage: ping-pong COUNT [direct]");
  long count = number(argv[1]);
  pid_t target = argc > 2 ? getpid() : 1;
  sigset_t ping, pong, none;
  sigemptyset(&none);
  sigemptyset(&ping);
  sigaddset(&ping, SIGUSR1);
  sigemptyset(&pong);
  sigaddset(&pong, SIGUSR2);
  sigprocmask(SIG_BLOCK, &ping, NULL);
  sigprocmask(SIG_BLOCK, &pong, NULL);
  sender = fork();
  if (sender == -1)
    err(2, "fork");
  if (sender == 0) {
    setsid(); /* or the pings, forwarded to the group, come back to us */
    send_pings(target, count, &pong);
    return 0;
  }
  signal(SIGUSR1, answer);
  int wstatus;
  sigprocmask(SIG_UNBLOCK, &ping, NULL);
  while (waitpid(sender, &wstatus, 0) == -1)
    ; /* EINTR, by the pings */
  return WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : 2;
}
