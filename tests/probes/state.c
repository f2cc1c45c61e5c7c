/* ids, env, state, descriptors: what a program was given. with: give it. */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int probe_ids(int argc, char **argv) {
  (void)argc, (void)argv;
  say("%d %d %d %d", (int)getpid(), (int)getppid(), (int)getpgrp(),
      (int)getsid(0));
  return 0;
}

int probe_env(int argc, char **argv) {
  say("%d", (int)getpid());
  for (int i = 1; i < argc; i++) {
    const char *value = getenv(argv[i]);
    say("%s%s%s", argv[i], value ? "=" : " is unset", value ? value : "");
  }
  return 0;
}

int probe_state(int argc, char **argv) {
  (void)argc, (void)argv;
  sigbits blocked = set_mask(ALL_SIGNALS);
  sigbits ignored = ignored_signals();
  for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
    siginfo_t info;
    /* One that is ignored is taken from the queue too while it is blocked. */
    bool pending = wait_signal(bit(sig), 0, &info) == sig;
    say("%d %s %s%s", sig, blocked & bit(sig) ? "blocked" : "open",
        ignored & bit(sig) ? "ignored" : "default", pending ? " pending" : "");
  }
  return 0;
}

int probe_descriptors(int argc, char **argv) {
  const char *file = argc > 1 ? argv[1] : NULL;
  char text[64 * 1024], target[256], path[64];
  size_t length = 0;
  for (int fd = 0; fd < 1024; fd++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
      continue;
    target[n] = '\0';
    length += (size_t)snprintf(text + length, sizeof text - length, "%d %s\n",
                               fd, target);
  }
  /* A file of its own, since stdout may be what was closed. */
  int out = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644) : 1;
  if (out < 0 || write(out, text, length) != (ssize_t)length)
    fail(file ? file : "stdout");
  return 0;
}

int probe_with(int argc, char **argv) {
  sigbits blocked = 0, ignored = 0, pending = 0;
  char *closed = NULL;
  long uid = -1;
  int i = 1;
  for (; i < argc; i++)
    if (strncmp(argv[i], "block=", 6) == 0)
      blocked = signal_list(argv[i] + 6);
    else if (strncmp(argv[i], "ignore=", 7) == 0)
      ignored = signal_list(argv[i] + 7);
    else if (strncmp(argv[i], "pending=", 8) == 0)
      pending = signal_list(argv[i] + 8);
    else if (strncmp(argv[i], "close=", 6) == 0)
      closed = argv[i] + 6;
    else if (strncmp(argv[i], "uid=", 4) == 0)
      uid = number(argv[i] + 4);
    else
      break;
  set_dispositions(ignored, true);
  set_dispositions(~ignored, false);
  set_mask(blocked);
  for (int sig = 1; sig <= LAST_SIGNAL; sig++)
    if (pending & blocked & bit(sig) && send_signal(getpid(), sig))
      fail("kill");
  for (char *fd = closed ? strtok(closed, ",") : NULL; fd;
       fd = strtok(NULL, ","))
    close((int)number(fd));
  if (uid >= 0 && setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid))
    fail("setresuid");
  exec_or_fail(argv + i);
}
