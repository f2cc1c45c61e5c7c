/* --status: read the page of a running foster. */
#ifndef FOSTER_STATUS_READER_H
#define FOSTER_STATUS_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "status.h"

/* Print one JSON object about the foster `pid` to stdout. pid 0 means: not
 * given; then it is PID 1, or where that is none the only one to be seen.
 * Returns the exit code: 0, or 1 with one line on stderr. */
int status_print(pid_t pid);

/* Copy one moment of the page in the file `fd`, waiting a tenth of a second at
 * most for its writer. False if the file is too short. What is copied is
 * anybody's: see status_valid(). */
bool status_copy(int fd, struct status *page);

/* What proc_pid_stat(5) says of a process. */
struct process {
  char state;
  pid_t parent; /* 0: outside our PID namespace */
  int threads;
};

/* Read it from the file's text. False if it is not whole. Pure. */
bool process_parse(const char *stat, struct process *process);

#endif
