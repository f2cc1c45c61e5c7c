/* spawn-timer ROUNDS COMMAND... [::: COMMAND...]...
 * Runs the commands in turn, ROUNDS times. Prints for each run: the command's
 * place (0, 1, ...), wall time and CPU time in microseconds, and page faults
 * without I/O; the last two with all that the command waited for. */
#include "bench.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

static double microseconds(struct timeval time) {
  return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static void run(int place, char **command) {
  struct rusage usage;
  pid_t pid;
  int wstatus;
  double start = now();
  if (command[0] == NULL)
    errx(2, "a command is missing");
  int error = posix_spawn(&pid, command[0], NULL, NULL, command, environ);
  if (error != 0)
    errx(2, "%s: %s", command[0], strerror(error));
  if (wait4(pid, &wstatus, 0, &usage) != pid || wstatus != 0)
    errx(2, "%s: wait status %d", command[0], wstatus);
  double end = now();
  printf("%d %.1f %.0f %ld\n", place, end - start,
         microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
         usage.ru_minflt);
}

int main(int argc, char **argv) {
  enum { COMMANDS_MAX = 32 };
  char **commands[COMMANDS_MAX];
  int count = 0;
  if (argc < 3)
    errx(2, "usage: spawn-timer ROUNDS COMMAND... [::: COMMAND...]...");
  long rounds = number(argv[1]);
  commands[count++] = argv + 2;
  for (char **word = argv + 2; *word != NULL; word++)
    if (strcmp(*word, ":::") == 0 && count < COMMANDS_MAX) {
      *word = NULL;
      commands[count++] = word + 1;
    }
  while (rounds-- > 0)
    for (int place = 0; place < count; place++)
      run(place, commands[place]);
  return 0;
}
