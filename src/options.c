#include "options.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The Makefile says which. */
#ifndef FOSTER_VERSION
#define FOSTER_VERSION "0.0.0"
#endif
#ifndef FOSTER_COMMIT
#define FOSTER_COMMIT ""
#endif

#define ENVIRONMENT "FOSTER_OPTIONS"

static const struct option {
  char letter; /* 0: only the long name; --status is the one */
  char name[13];
  char value[8]; /* what it takes, as --help calls it; or nothing */
} table[] = {
    {'c', "single-child", ""},
    {'g', "", ""},
    {'s', "subreaper", ""},
    {'r', "rewrite", "FROM:TO"},
    {'k', "kill-after", "SECONDS"},
    {'t', "stop-timeout", "SECONDS"},
    {'e', "expect", "CODE"},
    {'p', "parent-death", "SIGNAL"},
    {'P', "pause", ""},
    {'w', "warn-on-reap", ""},
    {'R', "report", "FILE"},
    {0, "status", ""},
    {'v', "verbose", ""},
    {'l', "license", ""},
    {'h', "help", ""},
    {'V', "version", ""},
};
enum { OPTIONS = sizeof(table) / sizeof(*table) };

static const char help[] =
    "usage: foster [OPTIONS] [--] PROGRAM [ARG...]\n"
    "Run PROGRAM as the entrypoint of a container: forward signals, reap\n"
    "orphans, and when it ends let nothing outlive it.\n"
    "\n"
    "  -c, --single-child      forward to the entrypoint alone, not its group\n"
    "  -g                      forward to the group: the default\n"
    "  -s, --subreaper         adopt and drain orphans without being PID 1\n"
    "  -r, --rewrite=FROM:TO   forward signal FROM as TO; none as TO drops it\n"
    "  -k, --kill-after=SECONDS\n"
    "                          grace period of the drain, then SIGKILL; "
    "default\n"
    "                          5; inf never kills\n"
    "  -t, --stop-timeout=SECONDS\n"
    "                          SIGKILL the entrypoint so long after a SIGTERM "
    "or\n"
    "                          SIGINT; default inf\n"
    "  -e, --expect=CODE       report exit code CODE as 0\n"
    "  -p, --parent-death=SIGNAL\n"
    "                          forward SIGNAL and drain when the parent dies\n"
    "  -P, --pause             run no program: reap until SIGTERM or SIGINT\n"
    "  -w, --warn-on-reap      one line for each orphan reaped\n"
    "  -R, --report=FILE       write a JSON object about the run to FILE\n"
    "      --status[=PID]      print the state of a running foster as JSON\n"
    "  -v, --verbose           say more; twice for every signal and wait\n"
    "  -l, --license  -h, --help  -V, --version\n"
    "\n"
    "-r and -e are repeatable. " ENVIRONMENT " holds options that are read\n"
    "first. Exit status: the entrypoint's; 128+N if signal N killed it; 126 "
    "not\n"
    "runnable; 127 not found; 125 foster itself failed.\n";

static const char license[] =
    "foster, under the MIT License\n"
    "\n"
    "Copyright (c) 2026 the foster authors\n"
    "\n"
    "Permission is hereby granted, free of charge, to any person obtaining a "
    "copy\n"
    "of this software and associated documentation files (the \"Software\"), "
    "to deal\n"
    "in the Software without restriction, including without limitation the "
    "rights\n"
    "to use, copy, modify, merge, publish, distribute, sublicense, and/or "
    "sell\n"
    "copies of the Software, and to permit persons to whom the Software is\n"
    "furnished to do so, subject to the following conditions:\n"
    "\n"
    "The above copyright notice and this permission notice shall be included "
    "in all\n"
    "copies or substantial portions of the Software.\n"
    "\n"
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS "
    "OR\n"
    "IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,\n"
    "FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL "
    "THE\n"
    "AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER\n"
    "LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING "
    "FROM,\n"
    "OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN "
    "THE\n"
    "SOFTWARE.\n";

/* dockerd looks for just this form in what an init says of itself. */
#define VERSION "tini version " FOSTER_VERSION "-foster"

const char *options_text(enum action action) {
  if (action == ACTION_VERSION)
    return sizeof(FOSTER_COMMIT) > 1 ? VERSION " - git." FOSTER_COMMIT "\n"
                                     : VERSION "\n";
  return action == ACTION_LICENSE ? license : help;
}

/* Where words come from, one after the other, and what is made of them. */
struct parser {
  struct options *options;
  struct line *error;
  char **arguments; /* the rest of the command line */
  char *text;       /* the rest of FOSTER_OPTIONS, which comes first; or NULL */
};

/* The next word, or NULL after the last. */
static char *next_word(struct parser *parser) {
  static const char blanks[] = " \t\n";

  if (parser->text == NULL)
    return *parser->arguments != NULL ? *parser->arguments++ : NULL;
  char *word = parser->text + strspn(parser->text, blanks);
  char *end = word + strcspn(word, blanks);
  parser->text = end;
  if (*end != '\0') {
    *end = '\0';
    parser->text++;
  }
  return end != word ? word : NULL;
}

/* A decimal number without sign, at most `most`. */
static bool whole_number(const char *string, int most, int *number) {
  int value = 0;

  if (*string == '\0')
    return false;
  for (; *string != '\0'; string++) {
    int digit = *string - '0';
    if (digit < 0 || digit > 9 || value > (most - digit) / 10)
      return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

/* Seconds with a fraction or "inf", up to 31 years: far enough from NEVER that
 * a deadline cannot overflow. Below a nanosecond, digits count for nothing. */
static bool duration(const char *string, nanoseconds *result) {
  const nanoseconds most = 999999999;
  nanoseconds value = 0;
  bool digits = false;

  if (strcmp(string, "inf") == 0) {
    *result = NEVER;
    return true;
  }
  for (; *string >= '0' && *string <= '9'; string++, digits = true) {
    value = value * 10 + (*string - '0');
    if (value > most)
      return false;
  }
  value *= SECOND;
  if (*string == '.') {
    nanoseconds unit = SECOND / 10;
    for (string++; *string >= '0' && *string <= '9'; string++, digits = true) {
      value += unit * (*string - '0');
      unit /= 10;
    }
  }
  *result = value;
  return digits && *string == '\0';
}

/* Returns what is wrong, or NULL. */
static const char *parse_rewrite(struct options *options, const char *value) {
  char name[SIGNAL_NAME_SIZE];
  size_t length = strcspn(value, ":");
  int from = 0;
  const char *to = value + length + 1;

  if (value[length] == '\0')
    return "not FROM:TO, as in TERM:INT";
  if (length < sizeof(name)) {
    memcpy(name, value, length);
    name[length] = '\0';
    from = signal_number(name);
  }
  if (from == 0)
    return "FROM is not a signal (like TERM, 15 or RTMIN+3)";
  if (from == SIGKILL || from == SIGSTOP)
    return "SIGKILL and SIGSTOP cannot be caught";
  if (from == SIGCHLD)
    return "SIGCHLD is never forwarded";
  int signal = signal_number(to);
  if (signal == 0 && strcmp(to, "0") != 0 && strcasecmp(to, "none") != 0)
    return "TO is not a signal (like TERM, 15 or RTMIN+3), 0 or none";
  options->rewrite[from] = (unsigned char)signal;
  return NULL;
}

/* Set one option. Returns what is wrong with its value, or NULL. */
static const char *set(struct options *options, char letter,
                       const char *value) {
  int number;

  switch (letter) {
  case 'c':
    options->single_child = true;
    break;
  case 'g':
    options->single_child = false;
    break;
  case 's':
    options->subreaper = true;
    break;
  case 'r':
    return parse_rewrite(options, value);
  case 'k':
  case 't':
    if (!duration(value, letter == 'k' ? &options->kill_after
                                       : &options->stop_timeout))
      return "not a number of seconds up to 999999999 (like 5, 0.5 or inf)";
    break;
  case 'e':
    if (!whole_number(value, 255, &number))
      return "not an exit code (0 to 255)";
    options->expected[number] = true;
    break;
  case 'p':
    options->parent_death = signal_number(value);
    if (options->parent_death == 0)
      return "not a signal (like TERM, 15 or RTMIN+3)";
    break;
  case 'P':
    options->action = ACTION_PAUSE;
    break;
  case 'w':
    options->warn_on_reap = true;
    break;
  case 'R':
    if (value == NULL || *value == '\0')
      return "not the name of a file";
    options->report = value;
    break;
  case 'v':
    if (options->log_level < LOG_DEBUG)
      options->log_level++;
    break;
  case 'l':
    options->action = ACTION_LICENSE;
    break;
  case 'h':
    options->action = ACTION_HELP;
    break;
  case 'V':
    options->action = ACTION_VERSION;
    break;
  default:
    options->action = ACTION_STATUS;
    if (value == NULL)
      break;
    if (!whole_number(value, INT32_MAX, &options->status_pid) ||
        options->status_pid == 0)
      return "not a process id";
  }
  return NULL;
}

/* The line for an error, which says first where the culprit stands. */
static struct line *blame(const struct parser *parser) {
  if (parser->text != NULL)
    line_format(parser->error, ENVIRONMENT ": ");
  return parser->error;
}

/* One option, given by its long name or its letter. value is what was attached
 * to it, or NULL. Returns 0, or -1 with the error. */
static int apply(struct parser *parser, const struct option *option,
                 bool long_name, const char *value) {
  char name[sizeof("--") + sizeof(option->name)];
  struct line spelled = LINE(name);

  if (long_name)
    line_format(&spelled, "--%s", option->name);
  else
    line_format(&spelled, "-%c", option->letter);
  if (option->value[0] != '\0' && value == NULL) {
    value = next_word(parser);
    if (value == NULL) {
      line_format(blame(parser), "%s needs a value: %s", name, option->value);
      return -1;
    }
  } else if (option->value[0] == '\0' && value != NULL && option->letter != 0) {
    line_format(blame(parser), "%s takes no value, but has '%s'", name, value);
    return -1;
  }
  const char *reason = set(parser->options, option->letter, value);
  if (reason != NULL) {
    line_format(blame(parser), "%s%c%s: %s", name, long_name ? '=' : ' ', value,
                reason);
    return -1;
  }
  if (parser->options->action >= ACTION_STATUS && parser->text != NULL) {
    line_format(blame(parser), "%s is for the command line only", name);
    return -1;
  }
  return 0;
}

static int unknown(const struct parser *parser, const char *what) {
  line_format(blame(parser), "unknown option '%s'; see foster --help", what);
  return -1;
}

/* "--name", "--name=value". */
static int parse_long(struct parser *parser, const char *word) {
  const char *name = word + 2;
  size_t length = strcspn(name, "=");
  const char *value = name[length] == '=' ? name + length + 1 : NULL;

  for (size_t i = 0; i < OPTIONS; i++)
    if (length > 0 && strncmp(table[i].name, name, length) == 0 &&
        table[i].name[length] == '\0')
      return apply(parser, &table[i], true, value);
  return unknown(parser, word);
}

/* "-s", "-sv", "-k5", "-svk5". */
static int parse_cluster(struct parser *parser, const char *word) {
  for (const char *letter = word + 1;
       *letter != '\0' && parser->options->action < ACTION_STATUS; letter++) {
    size_t i = 0;
    while (i < OPTIONS && table[i].letter != *letter)
      i++;
    if (i == OPTIONS)
      return unknown(parser, (char[]){'-', *letter, '\0'});
    bool attached = table[i].value[0] != '\0' && letter[1] != '\0';
    if (apply(parser, &table[i], false, attached ? letter + 1 : NULL) != 0)
      return -1;
    if (attached)
      break;
  }
  return 0;
}

/* Parse up to PROGRAM, or to an option that prints and exits. */
static int parse_words(struct parser *parser) {
  struct options *options = parser->options;
  const char *word;

  while (options->action < ACTION_STATUS &&
         (word = next_word(parser)) != NULL) {
    bool end = strcmp(word, "--") == 0;
    if (word[0] != '-' || word[1] == '\0' || end) {
      if (parser->text != NULL) {
        line_format(blame(parser), "'%s' is not an option", word);
        return -1;
      }
      if (!end)
        parser->arguments--;
      if (*parser->arguments != NULL)
        options->command = parser->arguments;
      return 0;
    }
    if ((word[1] == '-' ? parse_long : parse_cluster)(parser, word) != 0)
      return -1;
  }
  return 0;
}

static void set_defaults(struct options *options) {
  memset(options, 0, sizeof(*options));
  options->kill_after = 5 * SECOND;
  options->stop_timeout = NEVER;
  for (size_t i = 0; i <= SIGNAL_MAX; i++)
    options->rewrite[i] = (unsigned char)i;
}

/* The value if `entry` is that of `name` in the environment, or NULL. */
static char *value_of(char *entry, const char *name) {
  size_t length = strlen(name);

  return strncmp(entry, name, length) == 0 && entry[length] == '='
             ? entry + length + 1
             : NULL;
}

static char *variable(char **envp, const char *name) {
  char *value = NULL;

  for (; *envp != NULL && value == NULL; envp++)
    value = value_of(*envp, name);
  return value;
}

/* A digit up to `most` from another init's variable. Returns -1 if there is
 * none, and warns if there is something else. */
static int digit_variable(char **envp, const char *name, char most,
                          struct line *warning) {
  const char *value = variable(envp, name);

  if (value == NULL || *value == '\0')
    return -1;
  if (*value >= '0' && *value <= most && value[1] == '\0')
    return *value - '0';
  line_format(warning, "%s%s=%s is ignored: not a number from 0 to %c",
              warning->length != 0 ? "; " : "", name, value, most);
  return -1;
}

/* What images have for tini and dumb-init. TINI_KILL_PROCESS_GROUP asks for
 * what is the default here. */
static void read_other_inits(struct options *options, char **envp,
                             struct line *warning) {
  const char *value = variable(envp, "TINI_SUBREAPER");
  int verbosity = digit_variable(envp, "TINI_VERBOSITY", '3', warning);

  options->subreaper = value != NULL && strcmp(value, "0") != 0;
  options->single_child =
      digit_variable(envp, "DUMB_INIT_SETSID", '1', warning) == 0;
  if (digit_variable(envp, "DUMB_INIT_DEBUG", '1', warning) == 1 ||
      verbosity == 2)
    options->log_level = LOG_VERBOSE;
  if (verbosity == 3)
    options->log_level = LOG_DEBUG;
}

int options_parse(struct options *options, char **argv, char **envp,
                  bool secure, struct line *error, struct line *warning) {
  char **arguments = *argv != NULL ? argv + 1 : argv;
  struct parser parser = {options, error, arguments, NULL};

  /* The command line counts last, but it alone says whether the environment is
   * read at all: a bad FOSTER_OPTIONS is not in the way of --help. */
  set_defaults(options);
  if (parse_words(&parser) != 0)
    return -1;
  if (options->action == ACTION_STATUS && *parser.arguments != NULL) {
    line_format(error, "'%s' after --status, which takes --status=PID alone",
                *parser.arguments);
    return -1;
  }
  if (options->action >= ACTION_STATUS)
    return 0;
  if (!secure) {
    set_defaults(options);
    read_other_inits(options, envp, warning);
    parser.text = variable(envp, ENVIRONMENT);
    if (parser.text != NULL && parse_words(&parser) != 0)
      return -1;
    parser.text = NULL;
    parser.arguments = arguments;
    if (parse_words(&parser) != 0)
      return -1;
  }
  if (options->action == ACTION_PAUSE && options->command != NULL) {
    line_format(error, "-P runs no program, but '%s' is given",
                options->command[0]);
    return -1;
  }
  if (options->action == ACTION_RUN && options->command == NULL) {
    line_format(error, "no program given; see foster --help");
    return -1;
  }
  return 0;
}

void options_forget(char **envp) {
  char **kept = envp;

  for (; *envp != NULL; envp++)
    if (value_of(*envp, ENVIRONMENT) == NULL)
      *kept++ = *envp;
  *kept = NULL;
}
