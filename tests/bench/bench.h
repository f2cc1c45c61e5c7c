/* What the measuring programs share. They print one value a line; the runner
 * does the statistics. */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* CLOCK_MONOTONIC in microseconds. */
static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static inline void nap(long microseconds) {
  struct timespec time = {.tv_sec = microseconds / 1000000,
                          .tv_nsec = microseconds % 1000000 * 1000};
  nanosleep(&time, NULL);
}

/* A positive number from argv. */
static inline long number(const char *text) {
  char *end;
  long value = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value <= 0)
    errx(2, "'%s' is not a positive number", text);
  return value;
}

/* Zeroed memory that forked processes share. */
static inline void *shared(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    err(2, "mmap");
  return memory;
}

/* How many children PID 1 has, zombies included. */
static inline long init_children(void) {
  static char text[1 << 16];
  long count = 0;
  ssize_t length;
  int fd = open("/proc/1/task/1/children", O_RDONLY | O_CLOEXEC);
  if (fd == -1)
    err(2, "/proc/1/task/1/children");
  while ((length = read(fd, text, sizeof text)) > 0)
    for (ssize_t i = 0; i < length; i++)
      count += text[i] == ' ';
  close(fd);
  return count;
}

/* The number after "KEY:" in a file of PID 1's. */
static inline long init_value(const char *path, const char *key) {
  char line[256];
  size_t length = strlen(key);
  long value = -1;
  FILE *file = fopen(path, "r");
  if (file == NULL)
    err(2, "%s", path);
  while (value == -1 && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, key, length) == 0 && line[length] == ':')
      value = strtol(line + length + 1, NULL, 10);
  fclose(file);
  if (value == -1)
    errx(2, "%s: no %s", path, key);
  return value;
}

#endif
