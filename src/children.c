#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "proc.h"
#include "scan.h"

/* The kernel's PID_MAX_LIMIT (proc_sys_kernel(5)). */
enum { PID_LIMIT = 1 << 22 };

/* One bit a pid. Only the pages that a drain touches are ever resident: `used`
 * is asked first, for every orphan. */
static unsigned char marks[CHILD_MARKS][PID_LIMIT / 8] BEHIND_SMALL_DATA;
static bool used[CHILD_MARKS];

static unsigned char bit_of(pid_t pid) {
  return (unsigned char)(1u << (pid % 8));
}

static bool is_marked(pid_t pid, enum child_mark mark) {
  return used[mark] && marks[mark][pid / 8] & bit_of(pid);
}

bool child_mark(pid_t pid, enum child_mark mark) {
  if (is_marked(pid, mark))
    return false;
  used[mark] = true;
  marks[mark][pid / 8] |= bit_of(pid);
  return true;
}

void child_forget(pid_t pid) {
  for (enum child_mark mark = 0; mark < CHILD_MARKS; mark++)
    if (is_marked(pid, mark))
      marks[mark][pid / 8] &= (unsigned char)~bit_of(pid);
}

/* A waitid that takes nothing away. Returns 0 if pid (0: any) is our child;
 * errno is ECHILD if it is not, and anything else where waitid is denied. */
static int peek(pid_t pid, siginfo_t *info) {
  info->si_pid = 0;
  return waitid(pid ? P_PID : P_ALL, (id_t)pid, info,
                WEXITED | WNOHANG | WNOWAIT | __WALL);
}

bool child_alive(pid_t pid) {
  siginfo_t info;
  return peek(pid, &info) == 0 ? info.si_pid == 0 : errno != ECHILD;
}

bool child_killed(pid_t pid) {
  siginfo_t info;
  if (peek(pid, &info) != 0)
    return errno != ECHILD;
  return info.si_pid == 0 ||
         (info.si_code == CLD_KILLED && info.si_status == SIGKILL);
}

static void visit_unless_foreign(struct init *init, child_visitor *visit,
                                 void *context, pid_t pid, int *count) {
  if (pid <= 0 || pid >= PID_LIMIT || is_marked(pid, CHILD_FOREIGN))
    return;
  ++*count;
  visit(init, pid, context);
}

/* Is /proc that of our own PID namespace? An outer one gives the numbers of
 * strangers. */
static bool proc_is_ours(void) {
  char self[16];
  return call_readlink(AT_FDCWD, "/proc/self", self, sizeof self) &&
         same(self, brief("%d", (int)getpid()));
}

/* Returns how many children there are, or -1 where there is no list. */
static int visit_listed(struct init *init, child_visitor *visit, void *context,
                        nanoseconds deadline) {
  int fd =
      proc_is_ours() ? call_open("/proc/thread-self/children", O_RDONLY) : -1;
  if (fd < 0)
    return -1;
  /* Each read begins with a walk from the first child on to where the last one
   * ended, and gives a page at most. */
  char chunk[4096];
  ssize_t length;
  int count = 0;
  pid_t pid = 0; /* may go on in the next chunk */
  while ((length = read(fd, chunk, sizeof chunk)) > 0) {
    for (ssize_t i = 0; i < length; i++) {
      if (is_digit(chunk[i])) {
        if (pid < PID_LIMIT)
          pid = pid * 10 + (chunk[i] - '0');
      } else {
        visit_unless_foreign(init, visit, context, pid, &count);
        pid = 0;
      }
    }
    if (now() >= deadline)
      break;
  }
  close(fd);
  return length < 0 ? -1 : count;
}

/* Without /proc: which numbers are children of ours? All that a kernel can
 * have; 4 million take about a second. */
static int visit_probed(struct init *init, child_visitor *visit, void *context,
                        nanoseconds deadline) {
  int count = 0;
  for (pid_t pid = 1; pid < PID_LIMIT; pid++) {
    siginfo_t info;
    if (pid % 4096 == 0 && now() >= deadline)
      break;
    if (peek(pid, &info) == 0)
      visit_unless_foreign(init, visit, context, pid, &count);
    else if (errno != ECHILD)
      return -1;
  }
  return count;
}

int children_visit(struct init *init, child_visitor *visit, void *context,
                   nanoseconds deadline) {
  int count = visit_listed(init, visit, context, deadline);
  if (count < 0 && (!init->pid1 || init->foreign))
    count = visit_probed(init, visit, context, deadline);
  return count;
}

static void note_foreign(struct init *init, pid_t pid, void *context) {
  (void)init, (void)context;
  child_mark(pid, CHILD_FOREIGN);
}

bool children_any(void) {
  siginfo_t info;
  return peek(0, &info) == 0 || errno != ECHILD;
}

void children_note_foreign(struct init *init) {
  if (!children_any())
    return;             /* as nearly always */
  init->foreign = true; /* also PID 1 has to list them now */
  init->foreign = children_visit(init, note_foreign, NULL, NEVER) > 0;
}

const char *child_name(pid_t pid) {
  char name[PROCESS_NAME_SIZE];
  return process_name(pid, name) ? brief("%s", name) : "?";
}
