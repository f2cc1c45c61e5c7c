/* marked: the processes of a test, by a variable that was in their environment
 * when they were exec'ed. After each test they are looked for, so this is one
 * pass in one small program. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1 or 0: whether it is in that file; -1: there is nothing to read. */
static int is_in(const char *path, const char *variable) {
  /* More than the kernel takes. Not in the program's own data, since other
   * probes run where there is little address space. */
  enum { SIZE = 8 << 20 };
  static char *text;
  if (!text && !(text = malloc(SIZE)))
    fail("malloc");
  size_t length = 0;
  ssize_t count = -1;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  while ((count = read(fd, text + length, SIZE - 1 - length)) > 0)
    length += (size_t)count;
  close(fd);
  if (count < 0 || length == 0)
    return -1;
  text[length] = '\0';
  for (char *at = text; at < text + length; at += strlen(at) + 1)
    if (strcmp(at, variable) == 0)
      return 1;
  return 0;
}

/* Where the main thread has ended only the others show one. */
static bool is_in_thread(const char *pid, const char *variable) {
  char path[600];
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR *threads = opendir(path);
  if (!threads)
    return false;
  bool found = false;
  for (struct dirent *thread; !found && (thread = readdir(threads));) {
    if (thread->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "/proc/%s/task/%s/environ", pid,
             thread->d_name);
    found = is_in(path, variable) == 1;
  }
  closedir(threads);
  return found;
}

int probe_marked(int argc, char **argv) {
  char path[300];
  errno = EINVAL;
  if (argc != 2)
    fail("marked");
  DIR *processes = opendir("/proc");
  if (!processes)
    fail("/proc");
  bool any = false;
  for (struct dirent *process; (process = readdir(processes));) {
    const char *pid = process->d_name;
    if (pid[0] < '1' || pid[0] > '9' || number(pid) == getpid())
      continue;
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    int found = is_in(path, argv[1]);
    if (found < 0)
      found = is_in_thread(pid, argv[1]);
    if (found) {
      any = true;
      say("%s", pid);
    }
  }
  closedir(processes);
  return any ? 0 : 1;
}
