/* Why an exec failed, in one line. */
#ifndef FOSTER_EXPLAIN_H
#define FOSTER_EXPLAIN_H

#include <stdbool.h>

#include "death.h"
#include "head.h"
#include "log.h"

/* Say in `line` why execve(2) of the program failed, without "foster: " and
 * newline, e.g. "/entrypoint.sh: its interpreter '/bin/bash' is missing".
 * name: the program as the user gave it. path: the file that execve was called
 * with last, or NULL where the PATH search found none; relative paths are taken
 * from the current directory. search: the PATH that was searched, or NULL if
 * the name has a slash. error: the errno. Never claims what is not certain:
 * then it is the errno's own words. Before init's chdir. */
void explain_exec(struct line *line, const char *name, const char *path,
                  const char *search, int error);

/* The exit code for a failed exec: 127 if the program was not found (ENOENT,
 * ENOTDIR of the file itself), else 126. POSIX, "Command Search and
 * Execution": a file that is there, but whose interpreter or loader is
 * missing, was found. */
int explain_exit_code(const char *path, int error);

/* For a program that ended with 127: if `path` is a script for "#!… env X", and
 * X is in none of the directories of `search` (the program's PATH), say so in
 * `line` and return true. Else, and whenever unsure, false: also where one of
 * these paths is relative, since this is called after init's chdir. */
bool explain_env(struct line *line, const char *path, const char *search);

#endif
