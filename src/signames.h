/* Signal names and numbers. Pure. */
#ifndef FOSTER_SIGNAMES_H
#define FOSTER_SIGNAMES_H

/* Signals are 1 to 64 on every architecture that foster runs on (MIPS, with
 * 128, is not among them). */
enum { SIGNAL_MAX = 64 };

/* RTMIN is 34 with every libc: what the kernel calls 32 and 33 is glibc's own,
 * and "kill -l" says 34. musl's own SIGRTMIN (35) is not used. */
enum { SIGNAL_RTMIN = 34 };

/* Longest name and its terminator: "SIGRTMIN+15", "SIGSTKFLT", "signal 33". */
enum { SIGNAL_NAME_SIZE = 16 };

/* The number for a name with or without SIG, in any case ("term", "SIGTERM",
 * "RTMIN", "rtmin+3", "RTMAX-1"), or for a decimal number 1 to 64.
 * Returns 0 if it is none. */
int signal_number(const char *name);

/* Write the name ("SIGTERM", "SIGRTMIN+3", "SIGRTMAX-1", or "signal 32" where
 * there is none) to buffer and return it. */
const char *signal_name(int signal, char buffer[SIGNAL_NAME_SIZE]);

/* signal_name() with a buffer that lives as long as the calling block. */
#define SIGNAL_NAME(signal) signal_name((signal), (char[SIGNAL_NAME_SIZE]){0})

#endif
