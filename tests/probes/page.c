/* attack, page: the status page, from outside. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Open the status page of a process for reading and writing, as any process of
 * its user can. */
static int open_page(const char *pid) {
  char path[320], target[64];
  snprintf(path, sizeof path, "/proc/%s/fd", pid);
  DIR *folder = opendir(path);
  if (folder == NULL)
    fail(path);
  int fd = -1;
  struct dirent *entry;
  while (fd < 0 && (entry = readdir(folder)) != NULL) {
    snprintf(path, sizeof path, "/proc/%s/fd/%s", pid, entry->d_name);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    if (strcmp(target, "/memfd:foster-status (deleted)") == 0 &&
        (fd = open(path, O_RDWR)) < 0)
      fail(path);
  }
  closedir(folder);
  if (fd < 0)
    fail("no page");
  return fd;
}

static void tell(const char *what, bool succeeded) {
  say("%s: %s", what, succeeded ? "done" : "refused");
}

int probe_attack(int argc, char **argv) {
  (void)argc;
  int fd = open_page(argv[1]);
  char byte = 'x';
  tell("grow", ftruncate(fd, 8192) == 0);
  tell("append", pwrite(fd, &byte, 1, 4096) == 1);
  tell("write", pwrite(fd, &byte, 1, 0) == 1);
  tell("punch",
       fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 4096) == 0);
  void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  tell("map for writing", map != MAP_FAILED);
  map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  tell("map, then make it writable",
       map != MAP_FAILED && mprotect(map, 4096, PROT_READ | PROT_WRITE) == 0);
  tell("seal", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0);
  tell("truncate", ftruncate(fd, 0) == 0);
  return 0;
}

int probe_page(int argc, char **argv) {
  char text[65536];
  int fd = memfd_create("foster-status", 0);
  ssize_t length = read(0, text, sizeof text);
  if (fd < 0 || length < 0)
    fail("page");
  /* Where a page has its process's number. */
  int32_t pid = (int32_t)getpid();
  if (length >= 28)
    memcpy(text + 24, &pid, sizeof pid);
  if (write(fd, text, (size_t)length) != length ||
      ftruncate(fd, argc > 1 ? number(argv[1]) : 4096))
    fail("page");
  say("READY");
  hold();
}
