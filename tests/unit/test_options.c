/* The command line and the environment. */
#include "options.h"

#include <signal.h>
#include <stdlib.h>

#include "unit.h"

enum { WORDS = 32 };

static struct options options;
static char error[1024], warning[1024];
static char *arguments[WORDS + 1], *environment[WORDS + 1];

/* Cut a copy of `text` at `blank`; '' is an empty word. */
static void cut(char **words, char *copy, const char *text, char blank) {
  size_t count = 0;

  strcpy(copy, text);
  while (*copy != '\0' && count < WORDS) {
    char *end = strchr(copy, blank);
    words[count++] = strncmp(copy, "''", 2) == 0 ? copy + 2 : copy;
    if (end == NULL)
      break;
    *end = '\0';
    copy = end + 1;
  }
  words[count] = NULL;
}

/* Parse a command line, cut at blanks, with an environment, cut at '|'. */
static int parse_with(bool secure, const char *variables, const char *line) {
  static char line_copy[2048], variables_copy[2048];
  struct line error_line = LINE(error), warning_line = LINE(warning);

  cut(arguments, line_copy, line, ' ');
  cut(environment, variables_copy, variables, '|');
  memset(&options, 0xaa, sizeof(options));
  error[0] = warning[0] = '\0';
  return options_parse(&options, arguments, environment, secure, &error_line,
                       &warning_line);
}

static int parse(const char *line) { return parse_with(false, "A=b", line); }

/* It parses, and nobody complains. */
#define CHECK_PARSES(variables, line)                                          \
  do {                                                                         \
    CHECK_NUMBER(parse_with(false, (variables), (line)), 0);                   \
    CHECK_STRING(error, "");                                                   \
    CHECK_STRING(warning, "");                                                 \
  } while (0)

#define CHECK_ERROR(variables, line, expected)                                 \
  do {                                                                         \
    CHECK_NUMBER(parse_with(false, (variables), (line)), -1);                  \
    CHECK_STRING(error, (expected));                                           \
    CHECK_STRING(warning, "");                                                 \
  } while (0)

static void defaults(void) {
  CHECK_PARSES("A=b", "foster true");
  CHECK_NUMBER(options.action, ACTION_RUN);
  CHECK(options.command == arguments + 1);
  CHECK(!options.single_child && !options.subreaper && !options.warn_on_reap);
  CHECK_NUMBER(options.log_level, LOG_WARNING);
  for (int signal = 0; signal <= SIGNAL_MAX; signal++)
    CHECK_NUMBER(options.rewrite[signal], signal);
  for (int code = 0; code < 256; code++)
    CHECK(!options.expected[code]);
  CHECK_NUMBER(options.kill_after, 5 * SECOND);
  CHECK_NUMBER(options.stop_timeout, NEVER);
  CHECK_NUMBER(options.parent_death, 0);
  CHECK(options.report == NULL);
}

/* Each option by its letter and by its name. */
static void letters_and_names(void) {
  CHECK_PARSES("", "foster -c x");
  CHECK(options.single_child);
  CHECK_PARSES("", "foster --single-child x");
  CHECK(options.single_child);
  CHECK_PARSES("", "foster -c -g x");
  CHECK(!options.single_child);
  CHECK_PARSES("", "foster -gc x");
  CHECK(options.single_child);
  CHECK_PARSES("", "foster -s x");
  CHECK(options.subreaper);
  CHECK_PARSES("", "foster --subreaper x");
  CHECK(options.subreaper);
  CHECK_PARSES("", "foster -w x");
  CHECK(options.warn_on_reap);
  CHECK_PARSES("", "foster --warn-on-reap x");
  CHECK(options.warn_on_reap);
  CHECK_PARSES("", "foster -k 2 x");
  CHECK_NUMBER(options.kill_after, 2 * SECOND);
  CHECK_PARSES("", "foster --kill-after 2 x");
  CHECK_NUMBER(options.kill_after, 2 * SECOND);
  CHECK_PARSES("", "foster --kill-after=2 x");
  CHECK_NUMBER(options.kill_after, 2 * SECOND);
  CHECK_NUMBER(options.stop_timeout, NEVER);
  CHECK_PARSES("", "foster -t 2 x");
  CHECK_NUMBER(options.stop_timeout, 2 * SECOND);
  CHECK_PARSES("", "foster --stop-timeout=2 x");
  CHECK_NUMBER(options.stop_timeout, 2 * SECOND);
  CHECK_NUMBER(options.kill_after, 5 * SECOND);
  CHECK_PARSES("", "foster -p HUP x");
  CHECK_NUMBER(options.parent_death, SIGHUP);
  CHECK_PARSES("", "foster --parent-death=9 x");
  CHECK_NUMBER(options.parent_death, SIGKILL);
  CHECK_PARSES("", "foster -R /a=b x");
  CHECK_STRING(options.report, "/a=b");
  CHECK_PARSES("", "foster --report=/a=b x");
  CHECK_STRING(options.report, "/a=b");
  CHECK_PARSES("", "foster -v x");
  CHECK_NUMBER(options.log_level, LOG_VERBOSE);
  CHECK_PARSES("", "foster --verbose --verbose x");
  CHECK_NUMBER(options.log_level, LOG_DEBUG);
  CHECK_PARSES("", "foster -vvvv x");
  CHECK_NUMBER(options.log_level, LOG_DEBUG);
}

static void clusters(void) {
  CHECK_PARSES("", "foster -svk5.5 x");
  CHECK(options.subreaper);
  CHECK_NUMBER(options.log_level, LOG_VERBOSE);
  CHECK_NUMBER(options.kill_after, 55 * SECOND / 10);
  CHECK_STRING(options.command[0], "x");
  CHECK_PARSES("", "foster -swe 7 x");
  CHECK(options.subreaper && options.warn_on_reap && options.expected[7]);
  /* The rest of the word is the value, whatever it looks like. */
  CHECK_PARSES("", "foster -R-s x");
  CHECK_STRING(options.report, "-s");
  CHECK(!options.subreaper);
  CHECK_PARSES("", "foster -R -s x");
  CHECK_STRING(options.report, "-s");
  CHECK_PARSES("", "foster --report -- x");
  CHECK_STRING(options.report, "--");
}

static void the_first_operand_ends_the_options(void) {
  CHECK_PARSES("", "foster sh -c -v -- --help");
  CHECK(options.command == arguments + 1);
  CHECK_NUMBER(options.log_level, LOG_WARNING);
  CHECK_NUMBER(options.action, ACTION_RUN);
  CHECK_PARSES("", "foster -- -v x");
  CHECK(options.command == arguments + 2);
  CHECK_NUMBER(options.log_level, LOG_WARNING);
  CHECK_PARSES("", "foster -s -- -- x");
  CHECK(options.command == arguments + 3);
  CHECK_STRING(options.command[0], "--");
  CHECK_PARSES("", "foster - x");
  CHECK_STRING(options.command[0], "-");
  /* An empty name is exec's to refuse. */
  CHECK_PARSES("", "foster -- ''");
  CHECK_STRING(options.command[0], "");
  CHECK_PARSES("", "foster ''");
  CHECK_STRING(options.command[0], "");
}

static void no_program(void) {
  CHECK_ERROR("", "foster", "no program given; see foster --help");
  CHECK_ERROR("", "foster -s", "no program given; see foster --help");
  CHECK_ERROR("", "foster -s --", "no program given; see foster --help");
  CHECK_ERROR("", "", "no program given; see foster --help");
}

static void pause_runs_none(void) {
  CHECK_PARSES("", "foster -P");
  CHECK_NUMBER(options.action, ACTION_PAUSE);
  CHECK(options.command == NULL);
  CHECK_PARSES("", "foster --pause -s --");
  CHECK_NUMBER(options.action, ACTION_PAUSE);
  CHECK(options.subreaper && options.command == NULL);
  CHECK_ERROR("", "foster -P x", "-P runs no program, but 'x' is given");
}

static void durations(void) {
  static const struct {
    const char *text;
    nanoseconds value;
  } good[] = {
      {"0", 0},
      {"0.0", 0},
      {"5", 5 * SECOND},
      {"007", 7 * SECOND},
      {"0.5", SECOND / 2},
      {".5", SECOND / 2},
      {"1.", SECOND},
      {"1.25", 1250000000},
      {"0.000000001", 1},
      {"0.0000000019", 1},
      {"999999999", 999999999 * SECOND},
      {"999999999.999999999", 999999999 * SECOND + 999999999},
      {"inf", NEVER},
  };
  static const char *const bad[] = {
      "-1",
      "+1",
      "1e3",
      "0x1",
      "5s",
      "1,5",
      ".",
      "1.5.",
      "infinity",
      "INF",
      "nan",
      "1000000000",
      "99999999999999999999",
      "1.x",
      "x",
      "--",
  };
  char line[64];

  for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
    snprintf(line, sizeof(line), "foster -k%s x", good[i].text);
    CHECK_PARSES("", line);
    CHECK_NUMBER(options.kill_after, good[i].value);
    snprintf(line, sizeof(line), "foster -t %s x", good[i].text);
    CHECK_PARSES("", line);
    CHECK_NUMBER(options.stop_timeout, good[i].value);
  }
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    snprintf(line, sizeof(line), "foster -k %s x", bad[i]);
    CHECK_NUMBER(parse(line), -1);
    snprintf(line, sizeof(line), "foster --stop-timeout=%s x", bad[i]);
    CHECK_NUMBER(parse(line), -1);
  }
  CHECK_ERROR("", "foster -k abc x",
              "-k abc: not a number of seconds up to 999999999 (like 5, 0.5 or "
              "inf)");
  CHECK_ERROR("", "foster --stop-timeout '' x",
              "--stop-timeout=: not a number of seconds up to 999999999 (like "
              "5, 0.5 or inf)");
}

static void rewriting(void) {
  CHECK_PARSES("", "foster -r TERM:QUIT -rsigusr1:rtmin+1 --rewrite=1:none "
                   "--rewrite 64:0 -r 33:SIGKILL -r WINCH:CHLD x");
  for (int signal = 0; signal <= SIGNAL_MAX; signal++)
    CHECK_NUMBER(options.rewrite[signal], signal == SIGTERM    ? SIGQUIT
                                          : signal == SIGUSR1  ? 35
                                          : signal == SIGHUP   ? 0
                                          : signal == 64       ? 0
                                          : signal == 33       ? SIGKILL
                                          : signal == SIGWINCH ? SIGCHLD
                                                               : signal);
  /* The last one wins, whatever the name. */
  CHECK_PARSES("", "foster -r TERM:QUIT -r 15:INT x");
  CHECK_NUMBER(options.rewrite[SIGTERM], SIGINT);
  CHECK_PARSES("", "foster -r TERM:NONE -r TERM:TERM x");
  CHECK_NUMBER(options.rewrite[SIGTERM], SIGTERM);

  CHECK_ERROR("", "foster -r TERM x", "-r TERM: not FROM:TO, as in TERM:INT");
  CHECK_ERROR("", "foster -r '' x", "-r : not FROM:TO, as in TERM:INT");
  CHECK_ERROR("", "foster --rewrite=TREM:INT x",
              "--rewrite=TREM:INT: FROM is not a signal (like TERM, 15 or "
              "RTMIN+3)");
  CHECK_ERROR("", "foster -r :INT x",
              "-r :INT: FROM is not a signal (like TERM, 15 or RTMIN+3)");
  CHECK_ERROR("", "foster -r 0:INT x",
              "-r 0:INT: FROM is not a signal (like TERM, 15 or RTMIN+3)");
  CHECK_ERROR("", "foster -r SIGTERM_SIGTERM_:INT x",
              "-r SIGTERM_SIGTERM_:INT: FROM is not a signal (like TERM, 15 "
              "or RTMIN+3)");
  CHECK_ERROR("", "foster -r TERM: x",
              "-r TERM:: TO is not a signal, 0 or "
              "none");
  CHECK_ERROR("", "foster -r TERM:INT:QUIT x",
              "-r TERM:INT:QUIT: TO is not a signal, 0 or none");
  CHECK_ERROR("", "foster -r KILL:TERM x",
              "-r KILL:TERM: SIGKILL and SIGSTOP cannot be caught");
  CHECK_ERROR("", "foster -r 19:none x",
              "-r 19:none: SIGKILL and SIGSTOP cannot be caught");
  CHECK_ERROR("", "foster -r CLD:USR1 x",
              "-r CLD:USR1: SIGCHLD is never forwarded");
}

static void expected_codes(void) {
  CHECK_PARSES("", "foster -e 143 -e0 --expect=255 --expect 7 x");
  for (int code = 0; code < 256; code++)
    CHECK_NUMBER(options.expected[code],
                 code == 0 || code == 7 || code == 143 || code == 255);
  CHECK_ERROR("", "foster -e 256 x", "-e 256: not an exit code (0 to 255)");
  CHECK_ERROR("", "foster -e -1 x", "-e -1: not an exit code (0 to 255)");
  CHECK_ERROR("", "foster -e 1x x", "-e 1x: not an exit code (0 to 255)");
  CHECK_ERROR("", "foster -e '' x", "-e : not an exit code (0 to 255)");
  CHECK_ERROR("", "foster -e 4294967297 x",
              "-e 4294967297: not an exit code (0 to 255)");
  /* tini's spelling is not ours. */
  CHECK_ERROR("", "foster -e SIGTERM x",
              "-e SIGTERM: not an exit code (0 to 255)");
}

static void parent_death(void) {
  CHECK_ERROR("", "foster -p 0 x",
              "-p 0: not a signal (like TERM, 15 or RTMIN+3)");
  CHECK_ERROR("", "foster -p none x",
              "-p none: not a signal (like TERM, 15 or RTMIN+3)");
  CHECK_ERROR("", "foster -R '' x", "-R : not the name of a file");
}

static void what_prints_and_exits(void) {
  static const struct {
    const char *line;
    enum action action;
  } lines[] = {
      {"foster -h", ACTION_HELP},         {"foster --help", ACTION_HELP},
      {"foster -V", ACTION_VERSION},      {"foster --version", ACTION_VERSION},
      {"foster -l", ACTION_LICENSE},      {"foster --license", ACTION_LICENSE},
      {"foster -svh x", ACTION_HELP},     {"foster -P --help", ACTION_HELP},
      {"foster -h --bad", ACTION_HELP},   {"foster -Vx", ACTION_VERSION},
      {"foster --status", ACTION_STATUS},
  };
  for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
    CHECK_PARSES("", lines[i].line);
    CHECK_NUMBER(options.action, lines[i].action);
    /* Neither does it read the environment, nor change it. */
    CHECK_PARSES("FOSTER_OPTIONS=-k bad|TINI_VERBOSITY=bad", lines[i].line);
    CHECK_NUMBER(options.action, lines[i].action);
    CHECK_STRING(environment[0], "FOSTER_OPTIONS=-k bad");
  }
  CHECK_ERROR("", "foster --bad --help",
              "unknown option '--bad'; see foster --help");
}

static void status(void) {
  CHECK_PARSES("", "foster --status");
  CHECK_NUMBER(options.status_pid, 0);
  CHECK_PARSES("", "foster --status=4194304");
  CHECK_NUMBER(options.status_pid, 4194304);
  CHECK_PARSES("", "foster -s --status=2147483647");
  CHECK_NUMBER(options.status_pid, 2147483647);
  CHECK_ERROR("", "foster --status 7",
              "'7' after --status, which takes --status=PID alone");
  CHECK_ERROR("", "foster --status=7 true",
              "'true' after --status, which takes --status=PID alone");
  CHECK_ERROR("", "foster --status=", "--status=: not a process id");
  CHECK_ERROR("", "foster --status=0", "--status=0: not a process id");
  CHECK_ERROR("", "foster --status=-1", "--status=-1: not a process id");
  CHECK_ERROR("", "foster --status=2147483648",
              "--status=2147483648: not a process id");
  CHECK_ERROR("", "foster --status=init", "--status=init: not a process id");
}

static void unknown_options(void) {
  CHECK_ERROR("", "foster -x y", "unknown option '-x'; see foster --help");
  CHECK_ERROR("", "foster -sx y", "unknown option '-x'; see foster --help");
  CHECK_ERROR("", "foster -s- y", "unknown option '--'; see foster --help");
  CHECK_ERROR("", "foster --foo=1 y",
              "unknown option '--foo=1'; see foster --help");
  /* No abbreviations: a later option could make them mean another. */
  CHECK_ERROR("", "foster --sub y",
              "unknown option '--sub'; see foster --help");
  CHECK_ERROR("", "foster --=x y", "unknown option '--=x'; see foster --help");
  CHECK_ERROR("", "foster ---s y", "unknown option '---s'; see foster --help");
  CHECK_ERROR("", "foster -\n y", "unknown option '-\\x0a'; see foster --help");
  CHECK_ERROR("", "foster -\1 y", "unknown option '-\\x01'; see foster --help");
}

static void missing_and_needless_values(void) {
  CHECK_ERROR("", "foster -k", "-k needs a value: SECONDS");
  CHECK_ERROR("", "foster -sr", "-r needs a value: FROM:TO");
  CHECK_ERROR("", "foster --report", "--report needs a value: FILE");
  CHECK_ERROR("", "foster --verbose=2 x",
              "--verbose takes no value, but has '2'");
  CHECK_ERROR("", "foster --subreaper= x",
              "--subreaper takes no value, but has ''");
}

static void options_from_the_environment(void) {
  CHECK_PARSES("A=b|FOSTER_OPTIONS= -s \t-k 3  -r\tTERM:INT\n-vw |C=d",
               "foster x -y");
  CHECK(options.subreaper && options.warn_on_reap);
  CHECK_NUMBER(options.kill_after, 3 * SECOND);
  CHECK_NUMBER(options.rewrite[SIGTERM], SIGINT);
  CHECK_NUMBER(options.log_level, LOG_VERBOSE);
  CHECK(options.command == arguments + 1);
  CHECK_PARSES("FOSTER_OPTIONS=", "foster x");
  CHECK_PARSES("FOSTER_OPTIONS=  ", "foster x");
  CHECK(!options.subreaper);
  /* The command line has the last word, and adds to what is repeatable. */
  CHECK_PARSES("FOSTER_OPTIONS=-ck3 -e1 -v", "foster -g -k 4 -e 2 -v x");
  CHECK(!options.single_child && options.expected[1] && options.expected[2]);
  CHECK_NUMBER(options.kill_after, 4 * SECOND);
  CHECK_NUMBER(options.log_level, LOG_DEBUG);
  /* Options alone may come from there. */
  CHECK_PARSES("FOSTER_OPTIONS=-P", "foster");
  CHECK_NUMBER(options.action, ACTION_PAUSE);
  /* Of two the first counts, as in getenv(3). */
  CHECK_PARSES("FOSTER_OPTIONS=-s|FOSTER_OPTIONS=-w", "foster x");
  CHECK(options.subreaper && !options.warn_on_reap);
  /* Others' names. */
  CHECK_PARSES("FOSTER_OPTIONSX=-s|FOSTER_OPTION=-s|XFOSTER_OPTIONS=-s",
               "foster x");
  CHECK(!options.subreaper);
}

static void errors_in_the_environment(void) {
  CHECK_ERROR("FOSTER_OPTIONS=-k x", "foster y",
              "FOSTER_OPTIONS: -k x: not a number of seconds up to 999999999 "
              "(like 5, 0.5 or inf)");
  CHECK_ERROR("FOSTER_OPTIONS=-s -k", "foster 5",
              "FOSTER_OPTIONS: -k needs a value: SECONDS");
  CHECK_ERROR("FOSTER_OPTIONS=-s sh", "foster y",
              "FOSTER_OPTIONS: 'sh' is not an option");
  CHECK_ERROR("FOSTER_OPTIONS=-s --", "foster y",
              "FOSTER_OPTIONS: '--' is not an option");
  CHECK_ERROR("FOSTER_OPTIONS=-z", "foster y",
              "FOSTER_OPTIONS: unknown option '-z'; see foster --help");
  CHECK_ERROR("FOSTER_OPTIONS=-h", "foster y",
              "FOSTER_OPTIONS: -h is for the command line only");
  CHECK_ERROR("FOSTER_OPTIONS=--version", "foster y",
              "FOSTER_OPTIONS: --version is for the command line only");
  CHECK_ERROR("FOSTER_OPTIONS=-l", "foster y",
              "FOSTER_OPTIONS: -l is for the command line only");
  CHECK_ERROR("FOSTER_OPTIONS=--status=3", "foster y",
              "FOSTER_OPTIONS: --status is for the command line only");
  CHECK_ERROR("FOSTER_OPTIONS=-P", "foster y",
              "-P runs no program, but 'y' is given");
}

static void a_secure_start_reads_no_environment(void) {
  CHECK_NUMBER(parse_with(true,
                          "FOSTER_OPTIONS=-s -bad|TINI_SUBREAPER=|"
                          "DUMB_INIT_SETSID=0|TINI_VERBOSITY=x",
                          "foster -w x"),
               0);
  CHECK_STRING(error, "");
  CHECK_STRING(warning, "");
  CHECK(!options.subreaper && !options.single_child && options.warn_on_reap);
  CHECK_STRING(options.command[0], "x");
}

static void variables_of_other_inits(void) {
  CHECK_PARSES("TINI_SUBREAPER=", "foster x");
  CHECK(options.subreaper);
  CHECK_PARSES("TINI_SUBREAPER=1", "foster x");
  CHECK(options.subreaper);
  CHECK_PARSES("TINI_SUBREAPER=no", "foster x");
  CHECK(options.subreaper);
  CHECK_PARSES("TINI_SUBREAPER=0", "foster x");
  CHECK(!options.subreaper);
  CHECK_PARSES("TINI_KILL_PROCESS_GROUP=1", "foster x");
  CHECK(!options.single_child);
  CHECK_PARSES("TINI_VERBOSITY=|DUMB_INIT_DEBUG=|DUMB_INIT_SETSID=",
               "foster x");
  CHECK_NUMBER(options.log_level, LOG_WARNING);
  CHECK_PARSES("TINI_VERBOSITY=0", "foster x");
  CHECK_NUMBER(options.log_level, LOG_WARNING);
  CHECK_PARSES("TINI_VERBOSITY=1", "foster x");
  CHECK_NUMBER(options.log_level, LOG_WARNING);
  CHECK_PARSES("TINI_VERBOSITY=2", "foster x");
  CHECK_NUMBER(options.log_level, LOG_VERBOSE);
  CHECK_PARSES("TINI_VERBOSITY=3|DUMB_INIT_DEBUG=1", "foster x");
  CHECK_NUMBER(options.log_level, LOG_DEBUG);
  CHECK_PARSES("DUMB_INIT_DEBUG=1", "foster x");
  CHECK_NUMBER(options.log_level, LOG_VERBOSE);
  CHECK_PARSES("DUMB_INIT_DEBUG=0|DUMB_INIT_SETSID=1", "foster x");
  CHECK_NUMBER(options.log_level, LOG_WARNING);
  CHECK(!options.single_child);
  CHECK_PARSES("DUMB_INIT_SETSID=0", "foster x");
  CHECK(options.single_child);
  /* Ours come after theirs. */
  CHECK_PARSES("DUMB_INIT_SETSID=0|FOSTER_OPTIONS=-g", "foster x");
  CHECK(!options.single_child);

  CHECK_NUMBER(parse_with(false, "TINI_VERBOSITY=4", "foster x"), 0);
  CHECK_STRING(warning,
               "TINI_VERBOSITY=4 is ignored: not a number from 0 to 3");
  CHECK_NUMBER(
      parse_with(false, "DUMB_INIT_SETSID=no|DUMB_INIT_DEBUG=11", "foster x"),
      0);
  CHECK_STRING(warning,
               "DUMB_INIT_SETSID=no is ignored: not a number from 0 to 1; "
               "DUMB_INIT_DEBUG=11 is ignored: not a number from 0 to 1");
  CHECK(!options.single_child);
}

static void our_options_are_forgotten(void) {
  CHECK_PARSES("FOSTER_OPTIONS=-s -v|A=b|FOSTER_OPTIONS=-w|FOSTER_OPTIONSX=c|"
               "FOSTER_OPTIONS=",
               "foster x");
  options_forget(environment);
  CHECK_STRING(environment[0], "A=b");
  CHECK_STRING(environment[1], "FOSTER_OPTIONSX=c");
  CHECK(environment[2] == NULL);
  options_forget(environment);
  CHECK_STRING(environment[1], "FOSTER_OPTIONSX=c");
  CHECK(environment[2] == NULL);
}

static void texts(void) {
  /* As it is seen: with tabs made blanks. */
  char help[4096];
  size_t length = 0, width = 0;
  for (const char *at = options_text(ACTION_HELP); *at != '\0'; at++) {
    width = *at == '\n' ? 0 : width + 1;
    help[length++] = *at == '\t' ? ' ' : *at;
    for (; *at == '\t' && width % 8 != 0; width++)
      help[length++] = ' ';
    CHECK(length < sizeof(help) - 8);
  }
  help[length] = '\0';

  for (const char *line = help; *line != '\0'; line += width + 1) {
    width = strcspn(line, "\n");
    CHECK(width <= 80 && line[width] == '\n');
  }
  static const char *const all[] = {
      " -c, --single-child ", " -g ",
      " -s, --subreaper ",    " -r, --rewrite=FROM:TO ",
      " -k, --kill-after=S",  " -t, --stop-timeout=S",
      " -e, --expect=CODE ",  " -p, --parent-death=SIGNAL",
      " -P, --pause ",        " -w, --warn-on-reap ",
      " -R, --report=FILE ",  " --status[=PID] ",
      " -v, --verbose ",      " -l, --license ",
      " -h, --help ",         " -V, --version\n",
      "FOSTER_OPTIONS",
  };
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
    if (strstr(help, all[i]) == NULL)
      unit_fail(__FILE__, __LINE__, all[i]);
  CHECK(strstr(options_text(ACTION_LICENSE), "the foster authors") != NULL);
  CHECK(strncmp(options_text(ACTION_VERSION), "tini version ", 13) == 0);
}

int main(void) {
  defaults();
  letters_and_names();
  clusters();
  the_first_operand_ends_the_options();
  no_program();
  pause_runs_none();
  durations();
  rewriting();
  expected_codes();
  parent_death();
  what_prints_and_exits();
  status();
  unknown_options();
  missing_and_needless_values();
  options_from_the_environment();
  errors_in_the_environment();
  a_secure_start_reads_no_environment();
  variables_of_other_inits();
  our_options_are_forgotten();
  texts();
  return unit_result();
}
