/* Signal names and numbers. */
#ifndef FOSTER_SIGNAMES_H
#define FOSTER_SIGNAMES_H

#include <stdbool.h>

/* Signals are 1 to 64 on every architecture that foster runs on (MIPS, with
 * 128, is not among them). */
enum { SIGNAL_MAX = 64 };

/* RTMIN is 34 with every libc: what the kernel calls 32 and 33 is glibc's own,
 * and "kill -l" says 34. musl's own SIGRTMIN (35) is not used. */
enum { SIGNAL_RTMIN = 34 };

/* The number for a name with or without SIG, in any case ("term", "SIGTERM",
 * "RTMIN", "rtmin+3", "RTMAX-1"), or for a decimal number 1 to 64.
 * Returns 0 if it is none. */
int signal_number(const char *name);

/* Is the text this word, which is in capitals, in any case? */
bool is_word(const char *text, const char *capitals);

/* The name ("SIGTERM", "SIGRTMIN+3", "SIGRTMAX-1", or "signal 32" where there
 * is none): a brief() one. */
const char *signal_name(int signal);

#endif
