/* held: hold a program between its vfork and its exec. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of ptrace(2), which no two libcs declare alike. */
enum {
  OPTIONS = 1 | 2 | 4, /* tell system calls from SIGTRAP; follow fork, vfork */
  EVENT_FORK = 1,
  EVENT_VFORK = 2,
  EVENT_STOP = 128,
  GET_SYSCALL_INFO = 0x420e,
  SYSCALL_ENTRY = 1,
  SYSCALL_EXIT = 2,
};
struct syscall_info {
  uint8_t op, padding[3];
  uint32_t architecture;
  uint64_t instruction, stack;
  uint64_t number; /* at the entry alone */
  uint64_t rest[8];
};

static const struct place {
  const char *name;
  long number;
  int op;
} places[] = {
    {"group", SYS_setpgid, SYSCALL_EXIT},
    {"foreground", SYS_ioctl, SYSCALL_EXIT},
    {"mask", SYS_rt_sigprocmask, SYSCALL_EXIT},
    {"exec", SYS_execve, SYSCALL_ENTRY},
};

/* The libcs do not agree on the type of a request. */
static long trace(int request, pid_t pid, void *address, void *data) {
  return syscall(SYS_ptrace, (long)request, (long)pid, address, data);
}

static void resume(int request, pid_t pid, int sig) {
  /* ESRCH: it was killed meanwhile. */
  if (trace(request, pid, NULL, (void *)(intptr_t)sig) && errno != ESRCH)
    fail("ptrace");
}

/* Is the child at the place? Remembers the call at whose entry it was. */
static bool is_there(pid_t child, const struct place *place, long *number) {
  struct syscall_info info = {.op = 0};
  if (trace(GET_SYSCALL_INFO, child, (void *)sizeof info, &info) < 0)
    fail("PTRACE_GET_SYSCALL_INFO");
  if (info.op == SYSCALL_ENTRY)
    *number = (long)info.number;
  return info.op == place->op && *number == place->number;
}

/* Follow all that come from `first`. The first child of a vfork runs to the
 * place and is held there, until we are killed: then all go on alone. */
_Noreturn static void follow(const struct place *place, const char *file) {
  pid_t child = 0, announced = 0, early = 0;
  long number = -1;
  bool held = false;
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == ECHILD)
      _exit(0);
    if (pid < 0 || !WIFSTOPPED(status))
      continue;
    int sig = WSTOPSIG(status), event = status >> 16;
    bool runs_to_place = pid == child && !held;
    /* Whether it came of a fork or of a vfork its parent's event tells, before
     * or after its own first stop: until then it waits there. */
    if (!child && (event == EVENT_FORK || event == EVENT_VFORK)) {
      unsigned long made;
      if (trace(PTRACE_GETEVENTMSG, pid, NULL, &made))
        fail("PTRACE_GETEVENTMSG");
      announced = (pid_t)made;
      if (event == EVENT_VFORK)
        child = announced;
      if (early == announced)
        resume(child ? PTRACE_SYSCALL : PTRACE_CONT, early, 0);
    } else if (!child && event == EVENT_STOP && pid != announced) {
      early = pid;
      continue;
    }
    if (runs_to_place && sig == (SIGTRAP | 0x80) &&
        is_there(pid, place, &number)) {
      held = true;
      int fd = open(file, O_WRONLY | O_CREAT, 0644);
      if (fd < 0 || close(fd))
        fail(file);
      continue;
    }
    int request = runs_to_place ? PTRACE_SYSCALL : PTRACE_CONT;
    if (event == EVENT_STOP && sig != SIGTRAP)
      resume(PTRACE_LISTEN, pid, 0);
    else if (event || sig == (SIGTRAP | 0x80))
      resume(request, pid, 0);
    else
      resume(request, pid, sig);
  }
}

int probe_held(int argc, char **argv) {
  (void)argc;
  const struct place *place = places;
  errno = EINVAL;
  while (strcmp(place->name, argv[1]) != 0)
    if (++place == places + sizeof places / sizeof *places)
      fail(argv[1]);
  pid_t first = getpid();
  int ends[2];
  char byte = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    fail("socketpair");
  /* Nobody's child, in a session of its own: no one sees that it is there. */
  pid_t middle = fork_or_fail();
  if (middle == 0) {
    if (fork_or_fail())
      _exit(0);
    if (setsid() < 0 || read(ends[1], &byte, 1) != 1)
      fail("the tracer's start");
    if (trace(PTRACE_SEIZE, first, NULL, (void *)OPTIONS))
      fail("PTRACE_SEIZE");
    if (write(ends[1], &byte, 1) != 1)
      fail("write");
    close(ends[0]);
    close(ends[1]);
    follow(place, argv[2]);
  }
  if (waitpid(middle, NULL, 0) != middle)
    fail("waitpid");
  /* Yama lets only ancestors trace, if nobody else is allowed to. */
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  if (write(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
    fail("the tracer");
  close(ends[0]);
  close(ends[1]);
  exec_or_fail(argv + 3);
}
