/* deny: system calls that a sandbox or an old kernel does not have. */
#include "probe.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Of linux/seccomp.h and linux/filter.h, which musl-gcc does not see. */
enum {
  LOAD = 0x20,       /* BPF_LD | BPF_W | BPF_ABS */
  JUMP_EQUAL = 0x15, /* BPF_JMP | BPF_JEQ | BPF_K */
  RETURN = 0x06,     /* BPF_RET | BPF_K */
  NUMBER = 0,        /* offsets in struct seccomp_data */
  SECOND_ARGUMENT = 24,
};
#define ALLOW 0x7fff0000U
#define ERRNO 0x00050000U
struct step {
  uint16_t code;
  uint8_t if_true, if_false;
  uint32_t value;
};
struct program {
  unsigned short length;
  struct step *steps;
};

static const struct {
  const char *name;
  long number;
  uint32_t second; /* only with this second argument; 0: always */
} calls[] = {
    {"chdir", SYS_chdir, 0},
    {"clone", SYS_clone, 0},
#ifdef SYS_clone3
    {"clone3", SYS_clone3, 0},
#endif
    {"close_range", SYS_close_range, 0},
    {"fcntl", SYS_fcntl, 0},
#ifdef SYS_fork
    {"fork", SYS_fork, 0},
    {"poll", SYS_poll, 0},
    {"vfork", SYS_vfork, 0},
#endif
    {"ftruncate", SYS_ftruncate, 0},
    {"getpgid", SYS_getpgid, 0},
    {"ioctl", SYS_ioctl, 0},
    {"lseek", SYS_lseek, 0},
    {"memfd_create", SYS_memfd_create, 0},
    {"pidfd_open", SYS_pidfd_open, 0},
    {"pidfd_send_signal", SYS_pidfd_send_signal, 0},
    {"prctl", SYS_prctl, 0},
    {"pwritev2", SYS_pwritev2, 0},
    {"read", SYS_read, 0},
    {"readlinkat", SYS_readlinkat, 0},
#ifdef SYS_readlink
    {"readlink", SYS_readlink, 0},
#endif
    {"rt_sigqueueinfo", SYS_rt_sigqueueinfo, 0},
    {"seal", SYS_fcntl, 1033}, /* F_ADD_SEALS */
    {"sendto", SYS_sendto, 0},
    {"setpgid", SYS_setpgid, 0},
    {"signalfd4", SYS_signalfd4, 0},
    {"statx", SYS_statx, 0},
    {"waitid", SYS_waitid, 0},
};
enum { CALLS = sizeof calls / sizeof *calls };

static void append(struct program *program, struct step step) {
  program->steps[program->length++] = step;
}

int probe_deny(int argc, char **argv) {
  struct step steps[5 * CALLS + 1];
  struct program program = {0, steps};
  errno = EINVAL;
  if (argc < 4)
    fail("deny");
  uint32_t answer = ERRNO | (uint32_t)number(argv[1]);
  for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ",")) {
    size_t i = 0;
    while (strcmp(calls[i].name, name) != 0)
      if (++i == CALLS)
        fail(name);
    append(&program, (struct step){LOAD, 0, 0, NUMBER});
    append(&program, (struct step){JUMP_EQUAL, 0, calls[i].second ? 3 : 1,
                                   (uint32_t)calls[i].number});
    if (calls[i].second) {
      append(&program, (struct step){LOAD, 0, 0, SECOND_ARGUMENT});
      append(&program, (struct step){JUMP_EQUAL, 0, 1, calls[i].second});
    }
    append(&program, (struct step){RETURN, 0, 0, answer});
  }
  append(&program, (struct step){RETURN, 0, 0, ALLOW});
  if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) ||
      prctl(PR_SET_SECCOMP, 2L, &program, 0L, 0L))
    fail("PR_SET_SECCOMP");
  exec_or_fail(argv + 3);
}
