/* drain-timer COMMAND...       run it; milliseconds from the mark to its end
 * drain-timer sleepers COUNT   the program: COUNT sleepers, the mark, exit
 * The mark is the time just before the program under an init exits, written to
 * a pipe on descriptor 9, which the sleepers don't hold. */
#include "bench.h"

#include <sys/wait.h>

enum { MARK_FD = 9 };

static int leave_sleepers(long count) {
  for (long i = 0; i < count; i++) {
    pid_t pid = fork();
    if (pid == -1)
      err(2, "no room for %ld sleepers", count);
    if (pid == 0) {
      close(MARK_FD);
      for (;;)
        pause();
    }
  }
  nap(200000); /* until all of them sleep */
  double mark = now();
  if (write(MARK_FD, &mark, sizeof mark) != sizeof mark)
    err(2, "mark");
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "sleepers") == 0)
    return leave_sleepers(number(argv[2]));
  if (argc < 2)
    errx(2, "usage: drain-timer COMMAND... | drain-timer sleepers COUNT");
  int ends[2], wstatus;
  double mark;
  if (pipe(ends) == -1)
    err(2, "pipe");
  pid_t pid = fork();
  if (pid == -1)
    err(2, "fork");
  if (pid == 0) {
    dup2(ends[1], MARK_FD);
    close(ends[0]);
    close(ends[1]);
    execvp(argv[1], argv + 1);
    err(2, "%s", argv[1]);
  }
  close(ends[1]);
  waitpid(pid, &wstatus, 0);
  double end = now();
  if (wstatus != 0 || read(ends[0], &mark, sizeof mark) != sizeof mark)
    errx(2, "%s: wait status %d", argv[1], wstatus);
  printf("%.2f\n", (end - mark) / 1e3);
  return 0;
}
