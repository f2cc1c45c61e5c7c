/* What /proc tells of a process. */
#ifndef FOSTER_PROC_H
#define FOSTER_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* "/proc/PID/FILE", a brief() text. */
const char *proc_path(pid_t pid, const char *file);

/* Read the start of a file of /proc/PID as a string. False if there is none, or
 * nothing in it. */
bool proc_read(pid_t pid, const char *file, char *text, size_t size);

/* The kernel's own names have up to 63 bytes. */
enum { PROCESS_NAME_SIZE = 64 };

/* The name of a process as in ps (proc_pid_comm(5)), also of a zombie. False
 * where /proc does not tell. */
bool process_name(pid_t pid, char name[PROCESS_NAME_SIZE]);

#endif
