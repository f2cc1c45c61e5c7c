/* pty, session, abandon: a program on a terminal, and somebody who types. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* What the terminal has shown; what was seen of it is gone from here. */
struct screen {
  char text[64 * 1024];
  size_t length;
};

struct pty {
  int master; /* -1 once hung up */
  int log;
  pid_t child;
  double patience;
  struct screen screen;
};

static void become_session_leader(int terminal) {
  if (setsid() < 0)
    fail("setsid");
  if (terminal >= 0 && ioctl(terminal, TIOCSCTTY, 0))
    fail("TIOCSCTTY");
}

int probe_session(int argc, char **argv) {
  (void)argc;
  become_session_leader(STDIN_FILENO);
  exec_or_fail(argv + 1);
}

int probe_abandon(int argc, char **argv) {
  (void)argc;
  pid_t pid = fork_or_fail();
  set_mask(ALL_SIGNALS);
  if (pid == 0) {
    if (setpgid(0, 0) || tcsetpgrp(STDIN_FILENO, getpgrp()))
      fail("taking the foreground");
    _exit(0);
  }
  if (waitpid(pid, NULL, 0) != pid)
    fail("waitpid");
  set_mask(0);
  exec_or_fail(argv + 1);
}

static void take_from_master(struct pty *pty) {
  struct screen *screen = &pty->screen;
  char text[4096];
  ssize_t n = read(pty->master, text, sizeof text);
  if (n <= 0) /* EIO: nobody has the terminal open now */
    return;
  if (write(pty->log, text, (size_t)n) != n)
    fail("the log");
  size_t size = sizeof screen->text - 1;
  if (screen->length + (size_t)n > size) {
    size_t kept = size / 2;
    memmove(screen->text, screen->text + screen->length - kept, kept);
    screen->length = kept;
  }
  for (ssize_t i = 0; i < n; i++)
    screen->text[screen->length++] = text[i] ? text[i] : '?';
  screen->text[screen->length] = '\0';
}

/* Returns whether a command waits, if asked for; else after a moment or when
 * the terminal has shown something. */
static bool turn(struct pty *pty, bool commands) {
  struct pollfd fds[] = {
      {.fd = commands ? STDIN_FILENO : -1, .events = POLLIN},
      {.fd = pty->master, .events = POLLIN},
  };
  poll(fds, 2, 10);
  if (fds[1].revents & POLLIN)
    take_from_master(pty);
  else if (fds[1].revents && !fds[0].revents)
    usleep(10000); /* poll would return at once, again and again */
  return fds[0].revents != 0;
}

/* One line that shows control characters. */
static void say_unseen(const struct screen *screen) {
  char text[400];
  size_t to = 0;
  size_t from = screen->length > 90 ? screen->length - 90 : 0;
  for (size_t i = from; i < screen->length && to < sizeof text - 5; i++) {
    unsigned char c = (unsigned char)screen->text[i];
    if (c >= ' ' && c < 127)
      text[to++] = (char)c;
    else
      to += (size_t)sprintf(text + to, "\\x%02x", c);
  }
  text[to] = '\0';
  say("not seen; there was: %s", text);
}

static void see(struct pty *pty, const char *text) {
  struct screen *screen = &pty->screen;
  for (double end = now() + pty->patience; now() < end; turn(pty, false)) {
    char *found = strstr(screen->text, text);
    if (!found)
      continue;
    size_t seen = (size_t)(found - screen->text) + strlen(text);
    screen->length -= seen;
    memmove(screen->text, screen->text + seen, screen->length + 1);
    say("ok");
    return;
  }
  say_unseen(screen);
}

/* The child's end; false if it does not come. */
static bool end(struct pty *pty) {
  int status;
  for (double end = now() + pty->patience; now() < end; turn(pty, false)) {
    pid_t pid = waitpid(pty->child, &status, WNOHANG);
    if (pid < 0)
      fail("waitpid");
    if (pid == 0)
      continue;
    /* What it wrote last is for the log. */
    for (int i = 0; i < 5; i++)
      turn(pty, false);
    if (WIFSIGNALED(status))
      say("signal %d", WTERMSIG(status));
    else
      say("exit %d", WEXITSTATUS(status));
    return true;
  }
  say("not ended");
  return false;
}

static void say_settings(const struct pty *pty) {
  /* The kernel fills fewer than NCCS of them. */
  struct termios t = {0};
  if (tcgetattr(pty->master, &t))
    fail("tcgetattr");
  char text[2 * NCCS + 1] = "";
  for (int i = 0; i < NCCS; i++)
    sprintf(text + 2 * (size_t)i, "%02x", t.c_cc[i]);
  say("%x:%x:%x:%x:%s", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag, text);
}

static void type(const struct pty *pty, const char *text, size_t length) {
  if (write(pty->master, text, length) != (ssize_t)length)
    fail("typing");
  say("ok");
}

/* Returns false when there is no more to do. Each command gets one line. */
static bool command(struct pty *pty, char *line) {
  char *rest = strchr(line, ' ');
  rest = rest ? rest + 1 : line + strlen(line);
  if (strncmp(line, "line ", 5) == 0) {
    size_t length = strlen(rest);
    rest[length] = '\r'; /* over the end: command lines have room */
    type(pty, rest, length + 1);
  } else if (strncmp(line, "type ", 5) == 0) {
    type(pty, rest, strlen(rest));
  } else if (strncmp(line, "control ", 8) == 0) {
    char key = *rest & 0x1f;
    type(pty, &key, 1);
  } else if (strncmp(line, "see ", 4) == 0) {
    see(pty, rest);
  } else if (strncmp(line, "size ", 5) == 0) {
    struct winsize size = {.ws_col = 80};
    size.ws_row = (unsigned short)number(rest);
    if (ioctl(pty->master, TIOCSWINSZ, &size))
      fail("TIOCSWINSZ");
    say("ok");
  } else if (strcmp(line, "foreground") == 0) {
    /* Of the other side: tcgetpgrp(3) would insist on ours. */
    pid_t group = -1;
    if (ioctl(pty->master, TIOCGPGRP, &group))
      fail("TIOCGPGRP");
    say("%d", (int)group);
  } else if (strcmp(line, "settings") == 0) {
    say_settings(pty);
  } else if (strcmp(line, "pid") == 0) {
    say("%d", (int)pty->child);
  } else if (strcmp(line, "hangup") == 0) {
    close(pty->master);
    pty->master = -1;
    say("ok");
  } else if (strcmp(line, "end") == 0) {
    return !end(pty);
  } else {
    say("what is %s?", line);
  }
  return true;
}

/* A terminal without echo, so that what it shows was written by programs. */
static int open_master(void) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  struct termios t;
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  if (master < 0 || grantpt(master) || unlockpt(master))
    fail("a pty");
  if (tcgetattr(master, &t))
    fail("tcgetattr");
  t.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHOCTL);
  if (tcsetattr(master, TCSANOW, &t) || ioctl(master, TIOCSWINSZ, &size))
    fail("the settings of the pty");
  return master;
}

int probe_pty(int argc, char **argv) {
  static struct pty pty;
  bool loose = argc > 2 && strcmp(argv[2], "loose") == 0;
  const char *patience = getenv("PATIENCE");
  pty.patience = patience ? (double)number(patience) : 30;
  pty.log = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (pty.log < 0)
    fail(argv[1]);
  pty.master = open_master();
  const char *name = ptsname(pty.master);
  pty.child = fork_or_fail();
  if (pty.child == 0) {
    int terminal = open(name, O_RDWR | O_NOCTTY);
    if (terminal < 0)
      fail(name);
    become_session_leader(loose ? -1 : terminal);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
      dup2(terminal, fd);
    if (terminal > STDERR_FILENO)
      close(terminal);
    /* A shell without job control has it ignore SIGINT and SIGQUIT. */
    set_dispositions(ALL_SIGNALS, false);
    exec_or_fail(argv + (loose ? 3 : 2));
  }

  /* Commands, a line each. At the end of stdin the terminal is closed. */
  static char text[4096];
  size_t length = 0;
  for (double last = now() + PROBE_LIFETIME; now() < last;) {
    if (!turn(&pty, true))
      continue;
    ssize_t n = read(STDIN_FILENO, text + length, sizeof text - 1 - length);
    if (n <= 0)
      return 0;
    length += (size_t)n;
    char *newline;
    while ((newline = memchr(text, '\n', length))) {
      *newline = '\0';
      if (!command(&pty, text))
        return 0;
      size_t used = (size_t)(newline - text) + 1;
      length -= used;
      memmove(text, text + used, length);
    }
  }
  return 97;
}
