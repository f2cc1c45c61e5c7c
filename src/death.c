#include "death.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "reap.h"
#include "scan.h"

void explain_death(struct line *line, const char *name, pid_t pid, int wstatus,
                   long struck) {
  const bool unknown = WTERMSIG(wstatus) != SIGKILL || struck < 0;
  line_format(line, "%s (pid %d) was %s%s", name, (int)pid, end_words(wstatus),
              unknown ? ""
              : struck > 0
                  ? ": the kernel's OOM killer struck in this cgroup"
                  : "; not by the OOM killer of this cgroup: somebody sent it");
  if (unknown || struck > 0)
    return;
  /* "docker run --ulimit cpu=60" sets both limits, so no SIGXCPU comes first.
   * The program inherited ours. */
  unsigned long long cpu[2]; /* soft, hard; all ones: no limit */
  if (syscall(SYS_prlimit64, 0, RLIMIT_CPU, NULL, cpu) == 0 && cpu[1] != ~0ULL)
    line_format(line, ", or %llu s of CPU time were used up (RLIMIT_CPU)",
                cpu[1]);
}

/* A file of short lines. Longer ones are passed over: the longest of interest
 * has a cgroup's path, some 200 bytes under Kubernetes. */
struct lines {
  int fd;
  ssize_t at, end; /* what was read, and how much of it is used up */
  char bytes[512];
  char line[512];
};

static bool open_lines(struct lines *lines, const char *path) {
  lines->at = lines->end = 0;
  lines->fd = call_open(path, O_RDONLY);
  return lines->fd >= 0;
}

/* The next line, or NULL. What stands behind the last newline is none. */
static const char *next_line(struct lines *lines) {
  for (size_t length = 0;;) {
    if (lines->at == lines->end) {
      lines->at = 0;
      lines->end = read(lines->fd, lines->bytes, sizeof lines->bytes);
      if (lines->end <= 0)
        return NULL;
    }
    char byte = lines->bytes[lines->at++];
    if (byte != '\n') {
      if (length < sizeof lines->line)
        lines->line[length++] = byte;
    } else if (length < sizeof lines->line) {
      lines->line[length] = '\0';
      return lines->line;
    } else {
      length = 0;
    }
  }
}

/* "4:memory:/docker/1234", "7:cpu,memory:/" or v2's "0::/". */
const char *memory_cgroup(const char *line, bool *v1) {
  const char *path = after(line, "0::");
  *v1 = false;
  if (path)
    return path;
  const char *word = line + until(line, ":");
  while (*word++ != '\0') {
    size_t length = until(word, ",:");
    if (after(word, "memory") == word + length)
      *v1 = true;
    if (word[length] == ':')
      return *v1 ? word + length + 1 : NULL;
    word += length;
  }
  return NULL;
}

/* Read a file in the cgroup's folder `path`: -1 if there is none, else what is
 * behind `key` in its line, or in the line that is `number`. */
static long look_up(struct line *path, const char *file, const char *key,
                    long number) {
  const size_t folder = path->length;
  long found = -1;
  struct lines lines;
  line_format(path, "/%s", file);
  if (!path->truncated && open_lines(&lines, path->text)) {
    const char *line;
    while (found < 0 && (line = next_line(&lines))) {
      const char *value = after(line, key);
      long count = value ? (long)scan_number(&value, INT32_MAX) : -1;
      if (number < 0 || count == number)
        found = count;
    }
    close(lines.fd);
  }
  path->length = folder;
  path->text[folder] = '\0';
  return found;
}

/* /proc/self/cgroup names our cgroup from the root of our cgroup namespace. The
 * mount at the usual place may begin at that root, at our own cgroup (Docker
 * with v1), or elsewhere (in a namespace made later than the mount): then it is
 * another's cgroup. So a folder is believed only if it lists us. */
long oom_kills_under(const char *root, bool certain) {
  char text[1024];
  struct line path = LINE(text);
  struct lines lines;
  char own[sizeof lines.line] = "";
  bool v1 = false;

  line_format(&path, "%s/proc/self/cgroup", root);
  if (!open_lines(&lines, text))
    return -1;
  const char *line;
  while (!v1 && (line = next_line(&lines))) {
    const char *found = memory_cgroup(line, &v1);
    if (found)
      memcpy(own, found, length_of(found) + 1);
  }
  close(lines.fd);

  for (int whole = 1; whole >= 0; whole--) {
    path = LINE(text);
    line_format(&path, "%s/sys/fs/cgroup%s%s", root, v1 ? "/memory" : "",
                whole ? own : "");
    long kills = look_up(&path, v1 ? "memory.oom_control" : "memory.events",
                         "oom_kill ", -1);
    if (kills >= 0)
      return !certain || look_up(&path, "cgroup.procs", "", getpid()) >= 0
                 ? kills
                 : -1;
  }
  return -1;
}

/* The program has just been started: that is not the time to make sure. */
long oom_kills(void) { return oom_kills_under("", false); }

long oom_struck(long before) {
  long kills = before < 0 ? -1 : oom_kills_under("", true);
  return kills < 0 ? -1 : kills - before;
}
