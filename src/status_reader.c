#include "status_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "init.h"
#include "proc.h"
#include "scan.h"

enum {
  COPY_ATTEMPTS = 100, /* a millisecond apart */
  FIND_ATTEMPTS = 100, /* ten milliseconds apart */
  PARENTS_MAX = 64,    /* parents of zombies that are named; the rest is one */
  ANCESTORS_MAX = 256, /* no chain is longer, but they change as we climb */
};

/* Why there is nothing to print. */
enum found { FOUND, NO_PROCESS, NOT_FOSTER, NOT_PERMITTED, OTHER_LAYOUT };

/* A walk over the numbers in a directory of /proc. The system call itself:
 * opendir(3) would bring in malloc. */
struct directory {
  int fd;
  size_t at;
  size_t end;
  _Alignas(uint64_t) char bytes[4096];
};

/* Where things are in what getdents64(2) gives: after the inode and an offset
 * of 8 bytes each the entry's length, a byte for its type, its name. */
enum { ENTRY_LENGTH = 16, ENTRY_NAME = 19 };

static bool directory_open(struct directory *directory, const char *path) {
  directory->at = directory->end = 0;
  directory->fd = call_open(path, O_RDONLY | O_DIRECTORY);
  return directory->fd >= 0;
}

/* The next entry that is a number, or -1 at the end. */
static int directory_next(struct directory *directory) {
  for (;;) {
    if (directory->at >= directory->end) {
      long got = syscall(SYS_getdents64, directory->fd, directory->bytes,
                         sizeof directory->bytes);
      if (got <= 0)
        return -1;
      directory->at = 0;
      directory->end = (size_t)got;
    }
    const char *entry = directory->bytes + directory->at;
    uint16_t length;
    memcpy(&length, entry + ENTRY_LENGTH, sizeof length);
    directory->at += length;
    const char *name = entry + ENTRY_NAME;
    int number = (int)scan_number(&name, INT_MAX);
    if (number >= 0 && *name == '\0')
      return number;
  }
}

bool status_copy(int fd, struct status *page) {
  const off_t at = offsetof(struct status, sequence);
  uint32_t before, again;

  /* In three reads, since nobody promises in what order one copies. A writer
   * that was stopped, or killed, in the middle leaves an odd sequence behind:
   * then the copy stands as it is. Its words are whole, they are only not all
   * of one moment. */
  for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
    if (attempt > 0)
      (void)poll(NULL, 0, 1);
    if (pread(fd, &before, sizeof before, at) != sizeof before)
      return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (pread(fd, page, sizeof *page, 0) != sizeof *page)
      return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (pread(fd, &again, sizeof again, at) != sizeof again)
      return false;
    if (before == again && before % 2 == 0)
      break;
  }
  return true;
}

/* Was that the error of the last call? */
static bool not_permitted(void) { return errno == EACCES || errno == EPERM; }

/* Look at descriptor `number` in the directory /proc/PID/fd. The process may
 * be anybody, and put anything there, and another thing a moment later: so the
 * link is first pinned with O_PATH, which opens nothing, and what was checked
 * is what is read. It is never mapped: we would die of its truncation. */
static enum found look_at(int directory, int number, struct status *page) {
  const char *const wanted = "/memfd:foster-status (deleted)";
  char link[40]; /* what does not fit is another */
  const char *name = brief("%d", number);
  struct file_facts file;
  enum found found = NOT_FOSTER;

  if (!call_readlink(directory, name, link, sizeof link))
    return not_permitted() ? NOT_PERMITTED : NOT_FOSTER;
  if (!same(link, wanted))
    return NOT_FOSTER;

  int pinned = call_openat(directory, name, O_PATH);
  if (pinned < 0)
    return NOT_FOSTER;
  if (call_stat(pinned, "", &file) == 0 && S_ISREG(file.mode) &&
      file.links == 0 && file.size == STATUS_PAGE_SIZE) {
    int fd = call_open(brief("/proc/self/fd/%d", pinned),
                       O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && status_copy(fd, page))
      found = status_valid(page)     ? FOUND
              : status_foreign(page) ? OTHER_LAYOUT
                                     : NOT_FOSTER;
    if (fd >= 0)
      (void)close(fd);
  }
  (void)close(pinned);
  return found;
}

/* Does that link in its folder of /proc lead where ours does? */
static bool shares(pid_t pid, const char *link) {
  char ours[256];
  char theirs[256];

  return call_readlink(AT_FDCWD, brief("/proc/self/%s", link), ours,
                       sizeof ours) &&
         call_readlink(AT_FDCWD, proc_path(pid, link), theirs, sizeof theirs) &&
         same(ours, theirs);
}

/* Are we in its PID namespace? */
static bool shares_namespace(pid_t pid) { return shares(pid, "ns/pid"); }

/* Find the page of `pid`. That of an init which has just started comes in a
 * moment. */
static enum found find_page(pid_t pid, struct status *page) {
  enum found result = NOT_FOSTER;

  for (int attempt = 0; attempt < FIND_ATTEMPTS; attempt++) {
    struct directory directory;
    int number;

    if (!directory_open(&directory, proc_path(pid, "fd")))
      return not_permitted() ? NOT_PERMITTED : NO_PROCESS;
    while (result != FOUND && (number = directory_next(&directory)) >= 0) {
      enum found found = look_at(directory.fd, number, page);
      /* Somebody else may hold a foster's page open. */
      if (found == FOUND && page->pid != pid && shares_namespace(pid))
        found = NOT_FOSTER;
      if (found != NOT_FOSTER)
        result = found;
    }
    (void)close(directory.fd);
    if (result != NOT_FOSTER || pid == getpid() || !shares(pid, "exe"))
      break;
    (void)poll(NULL, 0, 10);
  }
  return result;
}

bool process_parse(const char *stat, struct process *process) {
  /* The name may have any bytes, but nothing after it has a parenthesis. */
  const char *at = last(stat, ')');

  if (at == NULL || length_of(at) < 4)
    return false;
  process->state = at[2];
  at += 4;
  process->parent = (pid_t)scan_number(&at, INT_MAX);
  /* From field 4, the parent, on to 20. */
  for (int field = 4; field < 20; field++) {
    at += until(at, " ");
    at += span(at, " ");
  }
  process->threads = (int)scan_number(&at, INT_MAX);
  return process->parent >= 0 && process->threads >= 0;
}

static bool read_process(pid_t pid, struct process *process) {
  char text[1024];

  return proc_read(pid, "stat", text, sizeof text) &&
         process_parse(text, process);
}

/* Is `pid` init, or below it? Orphans below an init that adopts stay there. */
static bool belongs_to(const struct status *page, pid_t pid) {
  struct process process;

  if (page->mode == MODE_PID1)
    return true;
  for (int i = 0; i < ANCESTORS_MAX && pid > 1 && pid != page->pid; i++)
    pid = read_process(pid, &process) ? process.parent : 0;
  return pid == page->pid;
}

/* Append {"count":N,"by_parent":[...]}, or null where /proc cannot be read. */
static void zombies_json(struct line *line, const struct status *page) {
  struct {
    pid_t pid;
    unsigned count;
  } parents[PARENTS_MAX + 1] = {0}; /* the last one: all others */
  unsigned count = 0;
  size_t used = 0;
  struct directory proc;
  struct process process;
  pid_t pid;

  if (!directory_open(&proc, "/proc")) {
    line_format(line, "null");
    return;
  }
  while ((pid = directory_next(&proc)) >= 0) {
    /* A leader that has ended before its threads looks like a zombie, but
     * nobody can wait for it yet. */
    if (!read_process(pid, &process) || process.state != 'Z' ||
        process.threads > 1)
      continue;
    size_t i = 0;
    while (i < used && parents[i].pid != process.parent)
      i++;
    if (i == used) {
      if (!belongs_to(page, process.parent))
        continue;
      if (used < PARENTS_MAX)
        parents[used++].pid = process.parent;
    }
    parents[i].count++;
    count++;
  }
  (void)close(proc.fd);

  line_format(line, "{\"count\":%u,\"by_parent\":[", count);
  if (parents[PARENTS_MAX].count > 0)
    used++;
  for (size_t i = 0; i < used; i++) {
    char name[PROCESS_NAME_SIZE];
    const bool one = i < PARENTS_MAX;
    const bool named = one && process_name(parents[i].pid, name);
    line_format(line,
                one ? "%s{\"pid\":%d,\"name\":" : "%s{\"pid\":null,\"name\":",
                i > 0 ? "," : "", parents[i].pid);
    line_format(line, named ? "\"%s\",\"count\":" : "null,\"count\":", name);
    line_format(line, "%u}", parents[i].count);
  }
  line_format(line, "]}");
}

static void explain_not_found(pid_t pid, enum found why,
                              const struct status *page) {
  char text[256], name[PROCESS_NAME_SIZE] = "";
  struct line line = LINE(text);
  struct file_facts directory;

  switch (why) {
  case NO_PROCESS:
    if (kill(pid, 0) != 0 && errno == ESRCH)
      line_format(&line, "no such process");
    else
      line_format(&line, "not to be seen in /proc (not mounted? hidepid?)");
    break;
  case NOT_PERMITTED:
    line_format(&line, "not permitted: ");
    if (call_stat(AT_FDCWD, proc_path(pid, ""), &directory) == 0 &&
        directory.uid != geteuid())
      line_format(&line, "be its user (docker exec -u %u)", directory.uid);
    else
      line_format(&line, "it has privileges that we lack: have them");
    line_format(&line, ", or CAP_SYS_PTRACE");
    break;
  case OTHER_LAYOUT:
    line_format(&line, "of another version, with status layout %u",
                page->layout);
    break;
  default:
    (void)process_name(pid, name);
    line_format(&line, "'%s' is not foster, or has no status to show", name);
  }
  log_line(LOG_WARNING, "process %d: %s", pid, text);
}

/* PID 1 is none that we could read, for the reason `why`. Returns the only
 * other one, or 0 with one line on stderr. */
static pid_t find_only(struct status *page, enum found why) {
  char list[256];
  struct line line = LINE(list);
  struct status candidate;
  struct directory proc;
  unsigned count = 0;
  pid_t only = 0;
  pid_t pid;

  if (directory_open(&proc, "/proc")) {
    while ((pid = directory_next(&proc)) >= 0) {
      if (find_page(pid, &candidate) != FOUND)
        continue;
      line_format(&line, count++ == 0 ? "%d" : ", %d", pid);
      only = pid;
      *page = candidate;
    }
    (void)close(proc.fd);
  }
  if (count == 0)
    explain_not_found(1, why, page);
  else if (count > 1)
    log_line(LOG_WARNING, "which one? --status=PID, where PID is one of %s%s",
             list, line.truncated ? ", ..." : "");
  return count == 1 ? only : 0;
}

int status_print(pid_t pid) {
  char
      text[STATUS_JSON_SIZE + (PARENTS_MAX + 1) * (6 * PROCESS_NAME_SIZE + 80)];
  struct line line = LINE(text);
  struct status page = {0};
  enum found found = find_page(pid != 0 ? pid : 1, &page);

  if (found != FOUND) {
    if (pid != 0) {
      explain_not_found(pid, found, &page);
      return 1;
    }
    pid = find_only(&page, found);
    if (pid == 0)
      return 1;
  } else if (pid == 0) {
    pid = 1;
  }

  line.escape = LINE_JSON;
  line_format(&line, "{");
  status_json(&line, &page, now(), NULL);
  line_format(&line, ",\"zombies\":");
  /* Elsewhere a number of /proc and one of the page are not the same's. */
  if (page.pid == pid && shares_namespace(pid))
    zombies_json(&line, &page);
  else
    line_format(&line, "null");
  line_format(&line, "}\n");

  return print(text, line.length) ? 0 : 1;
}
