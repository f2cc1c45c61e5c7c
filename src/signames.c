#include "signames.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "log.h"

enum { NAMES = 32 }; /* 32 and 33 have none */

static const char names[NAMES][7] = {
    [SIGHUP] = "HUP",       [SIGINT] = "INT",   [SIGQUIT] = "QUIT",
    [SIGILL] = "ILL",       [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",
    [SIGBUS] = "BUS",       [SIGFPE] = "FPE",   [SIGKILL] = "KILL",
    [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
    [SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
#ifdef SIGSTKFLT
    [SIGSTKFLT] = "STKFLT",
#endif
    [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT", [SIGSTOP] = "STOP",
    [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",
    [SIGURG] = "URG",       [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
    [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
    [SIGIO] = "IO",         [SIGPWR] = "PWR",   [SIGSYS] = "SYS",
};

/* Other names that kill(1) and shells know. */
static const struct {
  char name[5];
  unsigned char signal;
} aliases[] = {{"CLD", SIGCHLD}, {"IOT", SIGABRT}, {"POLL", SIGIO}};

/* The rest of `string` after `prefix`, which is in capitals, in any case; NULL
 * if it does not start so. Not strcasecmp: a locale has no say in this. */
static const char *after(const char *string, const char *prefix) {
  for (; *prefix != '\0'; string++, prefix++)
    if (*string != *prefix &&
        (*string < 'a' || *string > 'z' || *string - 'a' + 'A' != *prefix))
      return NULL;
  return string;
}

static bool same(const char *string, const char *name) {
  const char *rest = after(string, name);
  return rest != NULL && *rest == '\0';
}

/* A decimal number of one or two digits without a leading zero, or -1. */
static int number(const char *string) {
  int value = 0;
  size_t i;

  for (i = 0; string[i] >= '0' && string[i] <= '9' && i < 2; i++)
    value = value * 10 + string[i] - '0';
  if (i == 0 || string[i] != '\0' || (i == 2 && value < 10))
    return -1;
  return value;
}

int signal_number(const char *name) {
  int signal = number(name);
  const char *rest;

  if (signal >= 0)
    return signal <= SIGNAL_MAX ? signal : 0;
  rest = after(name, "SIG");
  if (rest != NULL)
    name = rest;
  for (signal = 1; signal < NAMES; signal++)
    if (names[signal][0] != '\0' && same(name, names[signal]))
      return signal;
  for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
    if (same(name, aliases[i].name))
      return aliases[i].signal;

  int sign = 1;
  signal = SIGNAL_RTMIN;
  rest = after(name, "RTMIN");
  if (rest == NULL) {
    sign = -1;
    signal = SIGNAL_MAX;
    rest = after(name, "RTMAX");
  }
  if (rest == NULL)
    return 0;
  if (*rest == '\0')
    return signal;
  int distance = number(rest + 1);
  if (*rest != (sign > 0 ? '+' : '-') || distance < 0 ||
      distance > SIGNAL_MAX - SIGNAL_RTMIN)
    return 0;
  return signal + sign * distance;
}

const char *signal_name(int signal, char buffer[SIGNAL_NAME_SIZE]) {
  struct line line = {.text = buffer, .size = SIGNAL_NAME_SIZE};
  const int middle = SIGNAL_RTMIN + 15; /* where "kill -l" changes its mind */
  const char *name = signal > 0 && signal < NAMES ? names[signal] : "";

  if (*name != '\0')
    line_format(&line, "SIG%s", name);
  else if (signal < SIGNAL_RTMIN || signal > SIGNAL_MAX)
    line_format(&line, "signal %d", signal);
  else if (signal == SIGNAL_RTMIN || signal == SIGNAL_MAX)
    line_format(&line, signal == SIGNAL_MAX ? "SIGRTMAX" : "SIGRTMIN");
  else if (signal <= middle)
    line_format(&line, "SIGRTMIN+%d", signal - SIGNAL_RTMIN);
  else
    line_format(&line, "SIGRTMAX-%d", SIGNAL_MAX - signal);
  return buffer;
}
