/* The report: its JSON, and how the second replaces the first. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

static struct status status = {.pid = 9,
                               .mode = MODE_SUBREAPER,
                               .state = 2,
                               .entrypoint_pid = 10,
                               .version = "1.0.0",
                               .command = "make",
                               .start_time = 5 * SECOND};
static const struct rusage usage = {
    .ru_utime = {1, 234567}, .ru_stime = {0, 9999}, .ru_maxrss = 5120};
static const struct rusage no_usage;
static struct ending ending = {.exit_code = 139,
                               .signal = SIGSEGV,
                               .core_dumped = true,
                               .killed_after_grace = 3,
                               .usage = &usage};
static char text[32768];

static const char *contents(const char *path) {
  int fd = open(path, O_RDONLY | O_NONBLOCK);
  assert(fd >= 0);
  ssize_t length = read(fd, text, sizeof text - 1);
  assert(length >= 0);
  text[length] = '\0';
  close(fd);
  return text;
}

static void has(const char *json, const char *part) {
  if (strstr(json, part) != NULL)
    return;
  fprintf(stderr, "%s\nis not in: %s\n", part, json);
  assert(0);
}

static bool ends_with(const char *json, const char *end) {
  size_t length = strlen(json);
  return length >= strlen(end) && strcmp(json + length - strlen(end), end) == 0;
}

static void json_of_a_killed_run(void) {
  int fd = report_open("file");
  assert(fd >= 3 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
  report_write(fd, "file", &status, &ending, false);
  has(contents("file"), "{\"version\":\"1.0.0\",\"pid\":9,");
  has(text, "\"state\":\"draining\",\"entrypoint\":{\"pid\":10,"
            "\"start_time\":5.000,\"command\":\"make\"}");
  has(text, "\"exit_code\":139,\"signal\":\"SIGSEGV\",\"core_dumped\":true,"
            "\"oom_kill\":false,\"killed_after_grace\":3,"
            "\"user_seconds\":1.234,\"system_seconds\":0.009,"
            "\"max_rss_kib\":5120,\"error\":null}\n");
  close(fd);
}

static void the_second_replaces_the_first(void) {
  struct status shorter = status;
  struct stat file;

  /* Stale content is gone at the start: it would lie for the whole run. */
  int fd = report_open("file");
  assert(stat("file", &file) == 0 && file.st_size == 0);

  /* A shorter one is padded with blanks: one write, and no rest of the first
   * behind it. */
  shorter.orphans_reaped = UINT64_MAX;
  report_write(fd, "file", &shorter, &ending, false);
  assert(stat("file", &file) == 0);
  off_t first = file.st_size;
  report_write(fd, "file", &status, &ending, true);
  assert(stat("file", &file) == 0 && file.st_size == first);
  has(contents("file"), "\"state\":\"ended\"");
  assert(ends_with(text, " \n") && strchr(text, '\n')[1] == '\0');

  /* A longer one is longer. */
  fd = report_open("file");
  report_write(fd, "file", &status, &ending, false);
  report_write(fd, "file", &shorter, &ending, true);
  assert(ends_with(contents("file"), "\"error\":null}\n"));

  /* What the program wrote there goes, however long it is. */
  for (size_t length = 1; length < 100000; length *= 3)
    for (int final = 0; final < 2; final++) {
      fd = report_open("file");
      assert(ftruncate(fd, (off_t)length) == 0);
      report_write(fd, "file", &status, &ending, final);
      assert(contents("file")[0] == '{');
      char *end = strchr(text, '}');
      assert(end != NULL && strlen(text) < 8192 && ends_with(text, "\n"));
      assert(strchr(text, '\n')[1] == '\0');
      close(fd);
    }
}

static void an_error_is_told_whatever_its_length(void) {
  static char longer[20000];
  struct ending failed = {
      .exit_code = 127, .usage = &no_usage, .error = longer};
  struct status none = {.version = "1.0.0"};

  memset(longer, '"', sizeof longer - 1);
  int fd = report_open("file");
  report_write(fd, "file", &none, &failed, true);
  has(contents("file"), "\"entrypoint\":null");
  has(text, "\"exit_code\":127,\"signal\":null,");
  has(text, "\"error\":\"\\\"\\\"");
  assert(ends_with(text, "\\\"\"}\n"));
  longer[3] = '\0';
  report_write(fd, "file", &none, &failed, true);
  has(contents("file"), "\"error\":\"\\\"\\\"\\\"\"}");
  close(fd);
}

static void a_fifo_gets_one_report(void) {
  assert(mkfifo("fifo", 0600) == 0);
  assert(report_open("fifo") == -1 && errno == ENXIO);
  int reader = open("fifo", O_RDONLY | O_NONBLOCK);
  int fd = report_open("fifo");
  assert(fd >= 3);
  report_write(fd, "fifo", &status, &ending, false);
  report_write(fd, "fifo", &status, &ending, true);
  ssize_t length = read(reader, text, sizeof text);
  assert(length > 0 && memchr(text, '\n', (size_t)length) == text + length - 1);
  /* Without an entrypoint the final one is all there is. */
  struct ending failed = {.exit_code = 127, .usage = &no_usage, .error = "no"};
  report_write(fd, "fifo", &status, &failed, true);
  length = read(reader, text, sizeof text);
  assert(length > 0 && memchr(text, '\n', (size_t)length) == text + length - 1);
  close(fd);
  close(reader);
}

static void standard_streams_are_shared(void) {
  int saved = dup(2);
  /* A log that holds something, and is appended to. */
  int log = open("log", O_RDWR | O_CREAT | O_TRUNC, 0600);
  assert(write(log, "before\n", 7) == 7);
  dup2(log, 2);
  int fd = report_open("/dev/stderr");
  assert(fd >= 3 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
  report_write(fd, "/dev/stderr", &status, &ending, false);
  assert(write(2, "after\n", 6) == 6);
  report_write(fd, "/dev/stderr", &status, &ending, true);
  close(fd);
  close(log);
  dup2(saved, 2);
  close(saved);
  assert(strncmp(contents("log"), "before\n{\"version\"", 17) == 0);
  assert(ends_with(text, "\"error\":null}\nafter\n"));
}

/* Run with stderr in a file; returns how many lines came. */
static int warnings(int fd, const char *path) {
  int saved = dup(2);
  int log = open("warnings", O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(log, 2);
  report_write(fd, path, &status, &ending, false);
  report_write(fd, path, &status, &ending, true);
  dup2(saved, 2);
  close(saved);
  close(log);
  int lines = 0;
  for (const char *at = contents("warnings"); *at; at++)
    lines += *at == '\n';
  return lines;
}

static void a_failed_write_is_one_warning(void) {
  signal(SIGPIPE, SIG_IGN);
  int fd = report_open("/dev/full");
  assert(fd >= 3 && warnings(fd, "/dev/full") == 1);
  has(text, "foster: cannot write the report to '/dev/full': no space left");
  close(fd);

  /* A full pipe: never waited for. */
  int reader = open("fifo", O_RDONLY | O_NONBLOCK);
  fd = report_open("fifo");
  while (write(fd, text, sizeof text) > 0)
    ;
  while (write(fd, text, 1) > 0)
    ;
  assert(warnings(fd, "fifo") == 1);
  has(text, "resource temporarily unavailable");
  close(reader);
  assert(warnings(fd, "fifo") == 1);
  has(text, "broken pipe");
  close(fd);

  /* A regular file: the same descriptor, opened for reading. */
  fd = open("file", O_RDONLY);
  assert(warnings(fd, "file") == 1);
  close(fd);
}

/* As on a disk with no room for all of it. */
static void half_a_report_is_one_warning(void) {
  struct rlimit limit, hundred = {.rlim_cur = 100};
  assert(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  hundred.rlim_max = limit.rlim_max;
  int fd = report_open("file");
  assert(setrlimit(RLIMIT_FSIZE, &hundred) == 0);
  int count = warnings(fd, "file");
  assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  assert(count == 1);
  has(text, "foster: cannot write the report to 'file': no space left");
  assert(strlen(contents("file")) == 100);
  close(fd);
}

static void a_wrong_path_is_an_error(void) {
  assert(report_open("missing/file") == -1 && errno == ENOENT);
  assert(report_open(".") == -1 && errno == EISDIR);
  assert(report_open("") == -1 && errno == ENOENT);
  int saved = dup(2);
  close(2);
  int fd = report_open("/dev/stderr");
  int error = errno;
  dup2(saved, 2);
  close(saved);
  assert(fd == -1 && error == EBADF);
}

int main(void) {
  char folder[] = "/tmp/foster-report.XXXXXX";
  assert(mkdtemp(folder) != NULL && chdir(folder) == 0);
  json_of_a_killed_run();
  the_second_replaces_the_first();
  an_error_is_told_whatever_its_length();
  a_fifo_gets_one_report();
  standard_streams_are_shared();
  a_failed_write_is_one_warning();
  half_a_report_is_one_warning();
  a_wrong_path_is_an_error();
  assert(unlink("file") == 0 && unlink("fifo") == 0 && unlink("log") == 0 &&
         unlink("warnings") == 0 && rmdir(folder) == 0);
  return 0;
}
