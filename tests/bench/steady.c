/* steady SECONDS
 * The program under an init that is PID 1. Lets it reap an orphan and forward a
 * signal, so that it has touched what it will; then prints PID 1's memory in
 * KiB ("rss", "pss", "dirty"), and how many times it was switched to or from in
 * SECONDS in which nothing happens ("wakeups"). */
#include "bench.h"

#include <signal.h>
#include <sys/wait.h>

static long switches(void) {
  return init_value("/proc/1/status", "voluntary_ctxt_switches") +
         init_value("/proc/1/status", "nonvoluntary_ctxt_switches");
}

int main(int argc, char **argv) {
  if (argc != 2)
    errx(2, "usage: steady SECONDS");
  long seconds = number(argv[1]);
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, NULL);

  pid_t parent = fork();
  if (parent == -1)
    err(2, "fork");
  if (parent == 0) {
    fork();
    _exit(0);
  }
  waitpid(parent, NULL, 0);
  while (init_children() > 1)
    nap(1000);
  /* The floor forwards nothing. */
  kill(1, SIGUSR1);
  sigtimedwait(&usr1, NULL, &(struct timespec){.tv_sec = 1});
  nap(100000); /* until PID 1 sleeps again */

  printf("rss %ld\n", init_value("/proc/1/smaps_rollup", "Rss"));
  printf("pss %ld\n", init_value("/proc/1/smaps_rollup", "Pss"));
  printf("dirty %ld\n", init_value("/proc/1/smaps_rollup", "Private_Dirty"));
  long before = switches();
  nap(seconds * 1000000);
  printf("wakeups %ld\n", switches() - before);
  return 0;
}
