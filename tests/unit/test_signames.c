/* Names and numbers of signals. */
#include "signames.h"

#include <signal.h>
#include <strings.h>

#include "unit.h"

static void names_are_those_of_kill_l(void) {
  CHECK_STRING(signal_name(1), "SIGHUP");
  CHECK_STRING(signal_name(SIGTERM), "SIGTERM");
  CHECK_STRING(signal_name(SIGABRT), "SIGABRT");
  CHECK_STRING(signal_name(SIGIO), "SIGIO");
  CHECK_STRING(signal_name(SIGVTALRM), "SIGVTALRM");
  CHECK_STRING(signal_name(31), "SIGSYS");
  CHECK_STRING(signal_name(34), "SIGRTMIN");
  CHECK_STRING(signal_name(35), "SIGRTMIN+1");
  CHECK_STRING(signal_name(49), "SIGRTMIN+15");
  CHECK_STRING(signal_name(50), "SIGRTMAX-14");
  CHECK_STRING(signal_name(63), "SIGRTMAX-1");
  CHECK_STRING(signal_name(64), "SIGRTMAX");
}

static void what_has_no_name_is_named_by_number(void) {
  CHECK_STRING(signal_name(0), "signal 0");
  CHECK_STRING(signal_name(32), "signal 32");
  CHECK_STRING(signal_name(33), "signal 33");
  CHECK_STRING(signal_name(65), "signal 65");
  CHECK_STRING(signal_name(-1), "signal -1");
}

static void each_name_is_understood_again(void) {
  for (int signal = 1; signal <= SIGNAL_MAX; signal++) {
    if (signal == 32 || signal == 33)
      continue;
    const char *name = signal_name(signal);
    char lower[16];
    size_t i = 0;

    CHECK(strncmp(name, "SIG", 3) == 0);
    CHECK_NUMBER(signal_number(name), signal);
    CHECK_NUMBER(signal_number(name + 3), signal);
    for (; name[i] != '\0'; i++)
      lower[i] =
          (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    lower[i] = '\0';
    CHECK_NUMBER(signal_number(lower), signal);
    CHECK_NUMBER(signal_number(lower + 3), signal);
  }
}

static void each_number_is_understood(void) {
  for (int signal = 0; signal < 100; signal++) {
    char text[12];
    snprintf(text, sizeof(text), "%d", signal);
    CHECK_NUMBER(signal_number(text), signal <= SIGNAL_MAX ? signal : 0);
  }
}

static void aliases_and_distances(void) {
  CHECK_NUMBER(signal_number("IOT"), SIGABRT);
  CHECK_NUMBER(signal_number("cld"), SIGCHLD);
  CHECK_NUMBER(signal_number("SIGPOLL"), SIGIO);
  CHECK_NUMBER(signal_number("RTMIN+0"), 34);
  CHECK_NUMBER(signal_number("RTMIN+30"), 64);
  CHECK_NUMBER(signal_number("rtmax-30"), 34);
  CHECK_NUMBER(signal_number("RTMAX-15"), 49);
  CHECK_NUMBER(signal_number("RTMIN+16"), 50);
  CHECK_NUMBER(signal_number("SigRtMax-0"), 64);
}

static void nothing_else_is_a_signal(void) {
  static const char *const none[] = {
      "",           " ",         "SIG",      "sig",      "15x",
      "x15",        " 15",       "15 ",      "+15",      "-15",
      "015",        "0",         "00",       "65",       "100",
      "4294967311", "0x0f",      "SIG15",    "TERMX",    "TER",
      "SIGSIGTERM", "SIG TERM",  "TERM ",    "EXIT",     "none",
      "RTMIN+31",   "RTMIN-1",   "RTMIN+",   "RTMIN+x",  "RTMIN+1x",
      "RTMIN+01",   "RTMIN 1",   "RTMINX",   "RTMI",     "RTMAX-31",
      "RTMAX+1",    "RTMAX-",    "RTMAX--1", "RTMIN+-1", "RTMIN+100",
      "signal 5",   "T\xc3\x89", "[",        "@ERM",
  };
  for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
    if (signal_number(none[i]) != 0) {
      unit_fail(__FILE__, __LINE__, none[i]);
    }
}

int main(void) {
  names_are_those_of_kill_l();
  what_has_no_name_is_named_by_number();
  each_name_is_understood_again();
  each_number_is_understood();
  aliases_and_distances();
  nothing_else_is_a_signal();
  return unit_result();
}
