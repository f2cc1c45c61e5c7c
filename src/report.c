#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"
#include "descriptors.h"
#include "init.h"
#include "scan.h"

/* 1 or 2 if that is what the path stands for, else 0. Those two are shared with
 * the program and others: written as they come, never emptied, and never opened
 * anew, which fails for a socket or another user's pipe. */
static int standard_stream(const char *path) {
  return same(path, "/dev/stdout")   ? STDOUT_FILENO
         : same(path, "/dev/stderr") ? STDERR_FILENO
                                     : 0;
}

int report_open(const char *path) {
  int stream = standard_stream(path);

  if (stream != 0)
    return call_fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  /* O_NONBLOCK: a FIFO without a reader is an error now, not a wait. */
  return descriptor_of_ours(
      call_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY));
}

nanoseconds from_timeval(struct timeval time) {
  return time.tv_sec * SECOND + time.tv_usec * (SECOND / 1000000);
}

static const char *truth(bool value) { return value ? "true" : "false"; }

static void report_json(struct line *line, const struct status *status,
                        const struct ending *ending, const char *state) {
  static const char tail[] = "\"}\n";

  line_format(line, "{");
  status_json(line, status, now(), state);
  line_format(line,
              ending->signal != 0 ? ",\"exit_code\":%d,\"signal\":\"%s\""
                                  : ",\"exit_code\":%d,\"signal\":null",
              ending->exit_code, signal_name(ending->signal));
  line_format(line,
              ",\"core_dumped\":%s,\"oom_kill\":%s,\"killed_after_grace\":%u,"
              "\"user_seconds\":%s,\"system_seconds\":%s,"
              "\"max_rss_kib\":%llu,\"error\":",
              truth(ending->core_dumped), truth(ending->oom_kill),
              ending->killed_after_grace,
              seconds(from_timeval(ending->usage->ru_utime)),
              seconds(from_timeval(ending->usage->ru_stime)),
              (unsigned long long)ending->usage->ru_maxrss);
  if (ending->error == NULL) {
    line_format(line, "null}\n");
    return;
  }
  /* It is as long as a path can be: better cut short than invalid. */
  line->size -= sizeof tail;
  line_format(line, "\"%s", ending->error);
  line->size += sizeof tail;
  line->truncated = 0;
  line_format(line, tail);
}

/* Replace what is in a regular file by `line`. The second report is never
 * shorter than the first (blanks at its end make up for it), so that one write
 * does it, and whoever reads, or finds the file after init was killed, has
 * either the one or the other. What the program wrote there is dropped. */
static int replace(int fd, struct line *line, off_t old_size, bool final) {
  bool pad = final && old_size < (off_t)line->size;

  if (old_size != 0 && !pad && ftruncate(fd, 0) != 0)
    return -1;
  if (pad && (off_t)line->length < old_size) {
    line->text[line->length - 1] = ' ';
    while ((off_t)line->length < old_size)
      line->text[line->length++] = ' ';
    line->text[line->length - 1] = '\n';
  }
  ssize_t written = pwrite(fd, line->text, line->length, 0);
  if (written < 0)
    return -1;
  if ((size_t)written == line->length)
    return 0;
  errno = ENOSPC;
  return -1;
}

void report_write(int fd, const char *path, const struct status *status,
                  const struct ending *ending, bool final) {
  /* On the stack and not static: what lies between the small variables of a
   * small program costs it a page. */
  char text[STATUS_JSON_SIZE + 4096];
  struct line line = LINE(text);
  struct file_facts file;

  bool twice = standard_stream(path) == 0 && call_stat(fd, "", &file) == 0 &&
               S_ISREG(file.mode);
  if (final && !twice && ending->error == NULL)
    return;
  line.escape = LINE_JSON;
  report_json(&line, status, ending, final ? "ended" : "draining");
  int result = twice ? replace(fd, &line, (off_t)file.size, final)
                     : write_nonblocking(fd, text, line.length);
  /* A first report that failed may still be made good by the second. */
  if (result != 0 && (final || !twice))
    log_line(LOG_FAILURE, "cannot write the report to '%s'", path);
}
