#include "signames.h"

#include <signal.h>
#include <stddef.h>

#include "log.h"
#include "scan.h"

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

/* The rest of `text` after `prefix`, which is in capitals, in any case; NULL if
 * it does not start so. Not strcasecmp: a locale has no say in this. */
static const char *after_capitals(const char *text, const char *prefix) {
  for (; *prefix != '\0'; text++, prefix++)
    if (*text != *prefix && *text != (*prefix | 0x20))
      return NULL;
  return text;
}

bool is_word(const char *text, const char *capitals) {
  const char *rest = after_capitals(text, capitals);
  return rest != NULL && *rest == '\0';
}

/* A number up to `most` without leading zeros and with nothing behind it, or
 * -1. */
static int number(const char *text, int most) {
  bool zeros = *text == '0' && text[1] != '\0';
  int value = (int)scan_number(&text, most);
  return zeros || *text != '\0' ? -1 : value;
}

int signal_number(const char *name) {
  const char *rest;

  if (is_digit(*name)) {
    int signal = number(name, SIGNAL_MAX);
    return signal > 0 ? signal : 0;
  }
  rest = after_capitals(name, "SIG");
  if (rest != NULL)
    name = rest;
  for (int signal = 1; signal < NAMES; signal++)
    if (names[signal][0] != '\0' && is_word(name, names[signal]))
      return signal;
  for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
    if (is_word(name, aliases[i].name))
      return aliases[i].signal;

  int first = SIGNAL_RTMIN, sign = 1;
  rest = after_capitals(name, "RTMIN");
  if (rest == NULL) {
    first = SIGNAL_MAX;
    sign = -1;
    rest = after_capitals(name, "RTMAX");
  }
  if (rest == NULL)
    return 0;
  if (*rest == '\0')
    return first;
  int distance = number(rest + 1, SIGNAL_MAX - SIGNAL_RTMIN);
  return *rest == (sign > 0 ? '+' : '-') && distance >= 0
             ? first + sign * distance
             : 0;
}

const char *signal_name(int signal) {
  const int middle = SIGNAL_RTMIN + 15; /* where "kill -l" changes its mind */

  if (signal > 0 && signal < NAMES && names[signal][0] != '\0')
    return brief("SIG%s", names[signal]);
  if (signal < SIGNAL_RTMIN || signal > SIGNAL_MAX)
    return brief("signal %d", signal);
  if (signal == SIGNAL_RTMIN)
    return "SIGRTMIN";
  if (signal == SIGNAL_MAX)
    return "SIGRTMAX";
  return signal <= middle ? brief("SIGRTMIN+%d", signal - SIGNAL_RTMIN)
                          : brief("SIGRTMAX-%d", SIGNAL_MAX - signal);
}
