#include "options.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "scan.h"

#define ENVIRONMENT "FOSTER_OPTIONS"

/* What an option sets. Those that take a value come first. */
enum kind { REWRITE, DURATION, CODE, SIGNAL, PATH, STATUS, FLAG, MORE, ACTION };

/* What they take, as --help calls it. STATUS takes its own only with "=". */
static const char value_names[STATUS][8] = {
    [REWRITE] = "FROM:TO", [DURATION] = "SECONDS", [CODE] = "CODE",
    [SIGNAL] = "SIGNAL",   [PATH] = "FILE",
};

static const struct option {
  char letter;            /* 0: only the long name */
  char name[13];          /* "": only the letter */
  unsigned char kind;     /* enum kind */
  unsigned char constant; /* what FLAG and ACTION set */
  unsigned char offset;   /* the member, for FLAG and DURATION */
} table[] = {
    {'c', "single-child", FLAG, true, offsetof(struct options, single_child)},
    {'g', "", FLAG, false, offsetof(struct options, single_child)},
    {'s', "subreaper", FLAG, true, offsetof(struct options, subreaper)},
    {'r', "rewrite", REWRITE, 0, 0},
    {'k', "kill-after", DURATION, 0, offsetof(struct options, kill_after)},
    {'t', "stop-timeout", DURATION, 0, offsetof(struct options, stop_timeout)},
    {'e', "expect", CODE, 0, 0},
    {'p', "parent-death", SIGNAL, 0, 0},
    {'P', "pause", ACTION, ACTION_PAUSE, 0},
    {'w', "warn-on-reap", FLAG, true, offsetof(struct options, warn_on_reap)},
    {'R', "report", PATH, 0, 0},
    {0, "status", STATUS, 0, 0},
    {'v', "verbose", MORE, 0, 0},
    {'l', "license", ACTION, ACTION_LICENSE, 0},
    {'h', "help", ACTION, ACTION_HELP, 0},
    {'V', "version", ACTION, ACTION_VERSION, 0},
};
enum { OPTIONS = sizeof(table) / sizeof(*table) };

/* Where words come from, one after the other, and what is made of them. */
struct parser {
  struct options *options;
  struct line *error;
  char **arguments; /* the rest of the command line */
  char *text;       /* the rest of FOSTER_OPTIONS, which comes first; or NULL */
};

/* The next word, or NULL after the last. */
static char *next_word(struct parser *parser) {
  const char *const blanks = " \t\n";

  if (parser->text == NULL)
    return *parser->arguments != NULL ? *parser->arguments++ : NULL;
  char *word = parser->text + span(parser->text, blanks);
  char *end = word + until(word, blanks);
  parser->text = end;
  if (*end != '\0') {
    *end = '\0';
    parser->text++;
  }
  return end != word ? word : NULL;
}

/* A number up to `most` with nothing behind it, or -1. */
static int whole_number(const char *text, int most) {
  int value = (int)scan_number(&text, most);
  return *text == '\0' ? value : -1;
}

/* Seconds with a fraction or "inf", up to 31 years: far enough from NEVER that
 * a deadline cannot overflow. Below a nanosecond, digits count for nothing. */
static bool duration(const char *text, nanoseconds *result) {
  const nanoseconds most = 999999999;

  *result = NEVER;
  if (same(text, "inf"))
    return true;
  bool digits = is_digit(*text);
  nanoseconds value = digits ? scan_number(&text, most) : 0;
  if (value < 0)
    return false;
  value *= SECOND;
  if (*text == '.')
    for (nanoseconds unit = SECOND; is_digit(*++text); digits = true) {
      unit /= 10;
      value += unit * (*text - '0');
    }
  *result = value;
  return digits && *text == '\0';
}

/* Returns what is wrong, or NULL. */
static const char *parse_rewrite(struct options *options, const char *value) {
  char name[16]; /* no signal's has so many */
  size_t length = until(value, ":");
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
  if (signal == 0 && !same(to, "0") && !is_word(to, "NONE"))
    return "TO is not a signal, 0 or none";
  options->rewrite[from] = (unsigned char)signal;
  return NULL;
}

/* Set one option. Returns what is wrong with its value, or NULL. */
static const char *set(struct options *options, const struct option *option,
                       const char *value) {
  void *member = (char *)options + option->offset;
  int number;

  switch (option->kind) {
  case REWRITE:
    return parse_rewrite(options, value);
  case DURATION:
    if (!duration(value, member))
      return "not a number of seconds up to 999999999 (like 5, 0.5 or inf)";
    break;
  case CODE:
    number = whole_number(value, 255);
    if (number < 0)
      return "not an exit code (0 to 255)";
    options->expected[number] = true;
    break;
  case SIGNAL:
    options->parent_death = signal_number(value);
    if (options->parent_death == 0)
      return "not a signal (like TERM, 15 or RTMIN+3)";
    break;
  case PATH:
    if (*value == '\0')
      return "not the name of a file";
    options->report = value;
    break;
  case STATUS:
    options->action = ACTION_STATUS;
    if (value == NULL)
      break;
    options->status_pid = whole_number(value, INT32_MAX);
    if (options->status_pid <= 0)
      return "not a process id";
    break;
  case FLAG:
    *(bool *)member = option->constant;
    break;
  case MORE:
    if (options->log_level < LOG_DEBUG)
      options->log_level++;
    break;
  default:
    options->action = option->constant;
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
  const char letter[] = {option->letter, '\0'};
  const char *name =
      long_name ? brief("--%s", option->name) : brief("-%s", letter);

  if (option->kind < STATUS && value == NULL) {
    value = next_word(parser);
    if (value == NULL) {
      line_format(blame(parser), "%s needs a value: %s", name,
                  value_names[option->kind]);
      return -1;
    }
  } else if (option->kind > STATUS && value != NULL) {
    line_format(blame(parser), "%s takes no value, but has '%s'", name, value);
    return -1;
  }
  const char *reason = set(parser->options, option, value);
  if (reason != NULL) {
    line_format(blame(parser), "%s%s%s: %s", name, long_name ? "=" : " ", value,
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
  size_t length = until(name, "=");
  const char *value = name[length] == '=' ? name + length + 1 : NULL;

  for (size_t i = 0; i < OPTIONS; i++) {
    const char *rest = after(name, table[i].name);
    if (table[i].name[0] != '\0' && rest == name + length)
      return apply(parser, &table[i], true, value);
  }
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
    bool attached = table[i].kind < STATUS && letter[1] != '\0';
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
    bool end = same(word, "--");
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
  *options = (struct options){
      .kill_after = 5 * SECOND,
      .stop_timeout = NEVER,
  };
  for (size_t i = 0; i <= SIGNAL_MAX; i++)
    options->rewrite[i] = (unsigned char)i;
}

/* A digit up to `most` from another init's variable. Returns -1 if there is
 * none, and warns if there is something else. */
static int digit_variable(char **envp, const char *name, int most,
                          struct line *warning) {
  const char *value = environment_value(envp, name);

  if (value == NULL || *value == '\0')
    return -1;
  if (is_digit(*value) && *value - '0' <= most && value[1] == '\0')
    return *value - '0';
  line_format(warning, "%s%s=%s is ignored: not a number from 0 to %d",
              warning->length != 0 ? "; " : "", name, value, most);
  return -1;
}

/* What images have for tini and dumb-init. TINI_KILL_PROCESS_GROUP asks for
 * what is the default here. */
static void read_other_inits(struct options *options, char **envp,
                             struct line *warning) {
  const char *value = environment_value(envp, "TINI_SUBREAPER");
  int verbosity = digit_variable(envp, "TINI_VERBOSITY", 3, warning);

  options->subreaper = value != NULL && !same(value, "0");
  options->single_child =
      digit_variable(envp, "DUMB_INIT_SETSID", 1, warning) == 0;
  if (digit_variable(envp, "DUMB_INIT_DEBUG", 1, warning) == 1 ||
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
    parser.text = (char *)(uintptr_t)environment_value(envp, ENVIRONMENT);
    if (parser.text != NULL && parse_words(&parser) != 0)
      return -1;
    parser.text = NULL;
    parser.arguments = arguments;
    (void)parse_words(&parser); /* understood above */
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
    if (after(*envp, ENVIRONMENT "=") == NULL)
      *kept++ = *envp;
  *kept = NULL;
}
