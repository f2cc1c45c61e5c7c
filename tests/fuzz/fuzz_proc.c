/* Any text as the list of our children, and as a process's name: only numbers
 * that a process can have are visited, and a name is one line. The linker leads
 * call_open() here (Makefile), so that each file of /proc is the input. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "children.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* ld's --wrap has these names.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_call_open(const char *path, int flags);
int __wrap_call_open(const char *path, int flags);
/* NOLINTEND(bugprone-reserved-identifier) */

static int file = -1;

static void require(bool condition) {
  if (!condition)
    abort();
}

int __wrap_call_open(const char *path, int flags) {
  char input[32];
  if (strncmp(path, "/proc/", 6) != 0)
    return __real_call_open(path, flags);
  (void)snprintf(input, sizeof input, "/proc/self/fd/%d", file);
  return __real_call_open(input, flags);
}

/* What the list has, cut apart in another way: the kernel puts a blank behind
 * each number. */
static long expected[1 << 16];
static int expectations;

static void visit(struct init *init, pid_t pid, void *context) {
  int *count = context;
  (void)init;
  require(pid > 0 && pid < 1 << 22);
  if (*count < expectations)
    require(expected[*count] == pid);
  ++*count;
  if (child_mark(pid, CHILD_TOLD))
    require(!child_mark(pid, CHILD_TOLD));
}

static void forget(struct init *init, pid_t pid, void *context) {
  (void)init, (void)context;
  child_forget(pid);
  require(child_mark(pid, CHILD_KILLED));
  child_forget(pid);
}

/* Returns whether it looks like what the kernel writes. */
static bool expect(const uint8_t *data, size_t size) {
  long pid = 0;
  expectations = 0;
  for (size_t i = 0; i < size; i++) {
    if (data[i] >= '0' && data[i] <= '9') {
      pid = pid * 10 + (data[i] - '0');
      if (pid >= 1 << 22)
        return false;
    } else if (data[i] == ' ' && pid > 0) {
      if (expectations == sizeof expected / sizeof *expected)
        return false;
      expected[expectations++] = pid;
      pid = 0;
    } else {
      return false;
    }
  }
  return true;
}

static void children(const uint8_t *data, size_t size) {
  static struct init init;
  int visited = 0;
  bool plain = expect(data, size);
  if (!plain)
    expectations = 0;
  int count = children_visit(&init, visit, &visited, NEVER);
  require(count == visited && (!plain || count == expectations));
  require(children_visit(&init, forget, NULL, NEVER) == count);
  /* A deadline that is over stops it. */
  visited = expectations = 0;
  require(children_visit(&init, visit, &visited, 0) <= count);
  children_visit(&init, forget, NULL, NEVER);
}

static void name(void) {
  char text[256];
  struct line line = LINE(text);
  const char *found = child_name(1);
  require(strlen(found) < BRIEF_SIZE);
  line_format(&line, "%d (%s)", 1, found);
  require(line.length < line.size && strlen(text) == line.length);
  for (size_t i = 0; i < line.length; i++)
    require((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (file < 0)
    file = memfd_create("input", 0);
  require(file >= 0 && ftruncate(file, 0) == 0);
  require(pwrite(file, data, size, 0) == (ssize_t)size);
  children(data, size);
  name();
  return 0;
}
