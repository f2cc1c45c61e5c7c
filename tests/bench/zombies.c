/* zombies COUNT
 * The program under an init that is PID 1. Its child makes COUNT zombies and
 * exits, so that PID 1 has them all at once. Prints the CPU time in
 * microseconds that PID 1 took for each. */
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static double init_cpu(void) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(1, &clock) != 0 || clock_gettime(clock, &time) != 0)
    errx(2, "PID 1's CPU clock cannot be read");
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

int main(int argc, char **argv) {
  if (argc != 2)
    errx(2, "usage: zombies COUNT");
  long count = number(argv[1]);
  pid_t *zombies = shared((size_t)count * sizeof *zombies);
  nap(20000); /* until PID 1 sleeps in its loop */
  double start = init_cpu();
  pid_t parent = fork();
  if (parent == -1)
    err(2, "fork");
  if (parent == 0) {
    for (long i = 0; i < count; i++) {
      pid_t pid = vfork();
      if (pid == 0)
        _exit(0);
      if (pid == -1)
        _exit(1);
      zombies[i] = pid;
    }
    _exit(0);
  }
  int wstatus;
  if (waitpid(parent, &wstatus, 0) == -1 || wstatus != 0)
    errx(2, "no room for %ld zombies", count);
  for (long i = 0; i < count; i++)
    while (kill(zombies[i], 0) == 0)
      nap(1000);
  printf("%.3f\n", (init_cpu() - start) / (double)count);
  return 0;
}
