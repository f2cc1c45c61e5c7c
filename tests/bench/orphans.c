/* orphans COUNT BATCH SECONDS
 * The program under an init that is PID 1. Two workers make COUNT orphans, or
 * as many as they can in SECONDS: each forks a parent, which forks BATCH
 * children and exits. Prints how many were made, how many were made and reaped
 * in a second, the most children that PID 1 was seen with, and by how many KiB
 * its resident set grew. */
#include "bench.h"

#include <stdatomic.h>
#include <sys/wait.h>

enum { WORKERS = 2 };

static void work(long count, long batch, double end, atomic_long *made) {
  for (long mine = 0; mine < count && now() < end;) {
    pid_t parent = fork();
    if (parent == -1) {
      nap(1000); /* the pid space is full: until init has reaped */
      continue;
    }
    if (parent == 0) {
      for (long i = 0; i < batch;) {
        pid_t orphan = batch > 1 ? vfork() : fork();
        if (orphan == 0)
          _exit(0);
        i += orphan > 0;
      }
      _exit(0);
    }
    waitpid(parent, NULL, 0);
    mine += batch;
    *made += batch;
  }
}

int main(int argc, char **argv) {
  if (argc != 4)
    errx(2, "usage: orphans COUNT BATCH SECONDS");
  long count = number(argv[1]), batch = number(argv[2]), most = 0, children;
  double limit = 1e6 * (double)number(argv[3]);
  atomic_long *made = shared(sizeof *made);
  work(1, batch, now() + limit, made); /* so that init has touched its pages */
  while (init_children() > 1)
    nap(1000);
  long before = init_value("/proc/1/smaps_rollup", "Rss");
  *made = 0;
  double start = now();
  int running = WORKERS;
  for (int i = 0; i < WORKERS; i++) {
    pid_t pid = fork();
    if (pid == -1)
      err(2, "fork");
    if (pid == 0) {
      work(count / WORKERS, batch, start + limit, made);
      _exit(0);
    }
  }
  do {
    nap(5000);
    while (running > 0 && waitpid(-1, NULL, WNOHANG) > 0)
      running--;
    children = init_children() - 1; /* without us */
    most = children > most ? children : most;
  } while (running > 0 || children > 0);
  double taken = (now() - start) / 1e6;
  printf("made %ld\nrate %.0f\nmost %ld\ngrown %ld\n", *made,
         (double)*made / taken, most,
         init_value("/proc/1/smaps_rollup", "Rss") - before);
  return 0;
}
