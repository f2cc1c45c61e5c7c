/* storm CHAINS SIGNALS LIMIT
 * The program under an init that is PID 1. Starts CHAINS chains of processes
 * that fork, setsid and exit for ever (0: none), then SIGNALS times sends
 * SIGTERM to PID 1 and waits, LIMIT seconds at most, for it to come back.
 * Prints "latency" lines in milliseconds, and where there are chains the
 * orphans made in a second, and the most children that PID 1 was seen with.
 * Only for a PID namespace of its own with a small pid_max. */
#include "bench.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One link of a chain at a time lives longer than it takes to exit, but where
 * there are few CPUs many can wait for their turn to do so. */
enum { STACKS = 16, STACK_SIZE = 8192 };

struct chain {
  int next;                /* stack for the next link */
  atomic_int busy[STACKS]; /* the kernel clears it when that link is gone */
  char stacks[STACKS][STACK_SIZE] __attribute__((aligned(16)));
};

static atomic_bool stop;
static atomic_long links;

/* A fork that copies no memory, so that it is init's work that is seen, not the
 * copying: libc's state is shared, too, and left alone. */
static bool add_link(struct chain *chain, int (*body)(void *)) {
  int next = chain->next;
  if (chain->busy[next])
    return false;
  chain->busy[next] = 1;
  chain->next = (next + 1) % STACKS;
  if (clone(body, chain->stacks[next] + STACK_SIZE,
            CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD, chain, NULL, NULL,
            &chain->busy[next]) != -1)
    return true;
  chain->busy[next] = 0; /* the pid space is full: until init has reaped */
  chain->next = next;
  return false;
}

static int live_link(void *chain) {
  setsid();
  links++;
  while (!stop && !add_link(chain, live_link))
    sched_yield();
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4)
    errx(2, "usage: storm CHAINS SIGNALS LIMIT");
  long chains = strcmp(argv[1], "0") == 0 ? 0 : number(argv[1]);
  long signals = number(argv[2]);
  struct timespec limit = {.tv_sec = number(argv[3])};
  struct chain *all = shared((size_t)(chains + 1) * sizeof *all);
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, NULL);

  for (long i = 0; i < chains; i++)
    while (!add_link(&all[i], live_link))
      sched_yield();
  nap(chains > 0 ? 500000 : 20000); /* let it gather */

  double start = now();
  long before = links, most = 0;
  for (long i = 0; i < signals; i++) {
    double sent = now();
    kill(1, SIGTERM);
    int came = sigtimedwait(&term, NULL, &limit) == SIGTERM;
    double latency = came ? now() - sent : (double)limit.tv_sec * 1e6;
    printf("latency %.3f\n", latency / 1e3);
    if (!came)
      break;
    if (chains > 0)
      most = init_children() > most ? init_children() : most;
    nap(10000);
  }
  if (chains > 0) {
    most = init_children() > most ? init_children() : most;
    printf("orphans %.0f\nmost %ld\n",
           (double)(links - before) / (now() - start) * 1e6, most);
  }
  stop = true;
  return 0;
}
