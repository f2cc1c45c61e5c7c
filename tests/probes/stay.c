/* hold, ignore, leader, thread, negligent, trace: programs that stay. */
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int probe_hold(int argc, char **argv) {
  (void)argc, (void)argv;
  say("READY");
  hold();
}

int probe_ignore(int argc, char **argv) {
  set_dispositions(signal_list(argv[1]), true);
  if (argc > 2)
    exec_or_fail(argv + 2);
  say("READY");
  hold();
}

static bool leader_is_zombie(void) {
  char text[256];
  int fd = open("/proc/self/stat", O_RDONLY);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (length < 0)
    fail("/proc/self/stat");
  close(fd);
  text[length] = '\0';
  return strstr(text, ") Z ") != NULL;
}

static void *stay(void *unused) {
  (void)unused;
  while (!leader_is_zombie())
    usleep(1000);
  say("READY");
  hold();
}

int probe_leader(int argc, char **argv) {
  (void)argc, (void)argv;
  pthread_t thread;
  if (pthread_create(&thread, NULL, stay, NULL))
    fail("pthread_create");
  syscall(SYS_exit, 0);
  abort();
}

static void *run_and_end(void *argv) {
  siginfo_t info;
  sigbits old = set_mask(bit(SIGUSR1));
  if (fork_or_fail() == 0) {
    set_mask(old);
    exec_or_fail(argv);
  }
  wait_signal(bit(SIGUSR1), PROBE_LIFETIME, &info);
  return NULL;
}

int probe_thread(int argc, char **argv) {
  (void)argc;
  pthread_t thread;
  set_mask(bit(SIGUSR1));
  if (pthread_create(&thread, NULL, run_and_end, argv + 1))
    fail("pthread_create");
  hold();
}

int probe_negligent(int argc, char **argv) {
  (void)argc;
  long count = number(argv[1]);
  siginfo_t info;
  for (long i = 0; i < count; i++) {
    pid_t pid = fork_or_fail();
    if (pid == 0)
      _exit(0);
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
      fail("waitid");
  }
  say("READY");
  hold();
}

int probe_trace(int argc, char **argv) {
  (void)argc;
  if (ptrace(PTRACE_SEIZE, (pid_t)number(argv[1]), NULL, NULL))
    fail("ptrace");
  say("READY");
  hold();
}
