/* System calls made without the libc's wrapper around them, where that brings
 * in much more than the call: musl's fcntl, fstat, open, mmap, sigaction and
 * clock_gettime are 4 KiB of a static binary, for cases that are not ours. Each
 * returns what the wrapper would, with errno. */
#ifndef FOSTER_CALLS_H
#define FOSTER_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* open(2), close-on-exec; files that it makes get mode 0644. Relative to
 * `directory`, a descriptor or AT_FDCWD. */
int call_openat(int directory, const char *path, int flags);
int call_open(const char *path, int flags);

/* fcntl(2). */
int call_fcntl(int fd, int command, unsigned long argument);

/* readlinkat(2). False, with errno, if it is no link or its target has `size`
 * bytes or more (ENAMETOOLONG). */
bool call_readlink(int directory, const char *path, char *target, size_t size);

/* mmap(2) of a file's first bytes, shared, to be written. */
void *call_map_shared(int fd, size_t size);

/* tcgetpgrp(3) and tcsetpgrp(3). */
pid_t call_foreground(int fd);
int call_set_foreground(int fd, pid_t group);

/* prctl(2) with one argument. */
int call_prctl(int option, unsigned long argument);

/* clock_gettime(2). */
nanoseconds call_clock(int clock);

/* sigaction(2): set what a signal does, SIG_DFL, SIG_IGN or a function, and
 * return what it did; SIG_ERR if there is no such signal. The function must not
 * return: that needs a trampoline, for each machine another. */
typedef void signal_handler(int);
signal_handler *call_sigaction(int signal, signal_handler *handler);

/* struct statx, of which musl has no declaration yet. */
struct file_facts {
  uint32_t mask, block_size;
  uint64_t attributes;
  uint32_t links, uid, gid;
  uint16_t mode, padding;
  uint64_t inode, size;
  uint64_t rest[26];
};

/* statx(2) of a path, or with path "" of the file that fd is (O_PATH too). */
int call_stat(int fd, const char *path, struct file_facts *facts);

#endif
