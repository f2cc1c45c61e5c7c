#include "proc.h"

#include <fcntl.h>
#include <unistd.h>

#include "calls.h"
#include "scan.h"

const char *proc_path(pid_t pid, const char *file) {
  return brief("/proc/%d/%s", (int)pid, file);
}

bool proc_read(pid_t pid, const char *file, char *text, size_t size) {
  int fd = call_open(proc_path(pid, file), O_RDONLY);
  if (fd < 0)
    return false;
  ssize_t length = read(fd, text, size - 1);
  close(fd);
  if (length <= 0)
    return false;
  text[length] = '\0';
  return true;
}

bool process_name(pid_t pid, char name[PROCESS_NAME_SIZE]) {
  if (!proc_read(pid, "comm", name, PROCESS_NAME_SIZE))
    return false;
  /* Its own newline comes last: a name may have others. */
  size_t length = length_of(name);
  if (length > 0 && name[length - 1] == '\n')
    name[length - 1] = '\0';
  return true;
}
