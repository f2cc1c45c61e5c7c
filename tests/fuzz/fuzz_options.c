/* Any command line with any environment: it parses, or there is an error of
 * one line, and what comes out keeps the promises of options.h. The input is
 * words that end with a zero byte; those before an empty word are the
 * environment, the rest is the command line. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 64 };

static void require(bool condition) {
  if (!condition)
    abort();
}

static void require_one_line(const struct line *line) {
  require(line->length < line->size);
  for (size_t i = 0; i < line->length; i++)
    require((unsigned char)line->text[i] >= 0x20 && line->text[i] != 0x7f);
}

/* Each word in an allocation of its own, so that reading behind it is seen. */
static size_t cut(const uint8_t *data, size_t size, size_t at, char **words,
                  bool stop_at_empty) {
  size_t count = 0;

  while (at < size && count < WORDS) {
    size_t length = strnlen((const char *)data + at, size - at);
    char *word = malloc(length + 1);
    require(word != NULL);
    memcpy(word, data + at, length);
    word[length] = '\0';
    at += length + 1;
    if (stop_at_empty && length == 0) {
      free(word);
      break;
    }
    words[count++] = word;
  }
  words[count] = NULL;
  return at;
}

static void check(const struct options *options, char **argv) {
  require(options->action <= ACTION_LICENSE);
  if (options->action == ACTION_RUN) {
    bool found = false;
    for (; *argv != NULL; argv++)
      found = found || argv == options->command;
    require(found);
  } else if (options->action == ACTION_PAUSE) {
    require(options->command == NULL);
  }
  require(options->log_level >= LOG_WARNING && options->log_level <= LOG_DEBUG);
  for (size_t i = 0; i <= SIGNAL_MAX; i++)
    require(options->rewrite[i] <= SIGNAL_MAX);
  require(options->rewrite[9] == 9 && options->rewrite[19] == 19);
  require(options->kill_after >= 0 && options->stop_timeout >= 0);
  /* Room for a deadline: CLOCK_MONOTONIC is a matter of years. */
  require(options->kill_after == NEVER || options->kill_after < NEVER / 2);
  require(options->stop_timeout == NEVER || options->stop_timeout < NEVER / 2);
  require(options->parent_death >= 0 && options->parent_death <= SIGNAL_MAX);
  require(options->report == NULL || *options->report != '\0');
  require(options->status_pid >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *envp[WORDS + 1], *argv[WORDS + 1], *all[WORDS + 1];
  char error_text[256], warning_text[256];
  struct options options;
  bool secure = size % 16 == 0;

  size_t at = cut(data, size, 0, envp, true);
  cut(data, size, at, argv, false);
  memcpy(all, envp, sizeof(all));
  struct line error = LINE(error_text), warning = LINE(warning_text);

  int result = options_parse(&options, argv, envp, secure, &error, &warning);
  require(result == 0 || result == -1);
  require((result == 0) == (error.length == 0));
  require(!secure || warning.length == 0);
  require_one_line(&error);
  require_one_line(&warning);
  if (result == 0)
    check(&options, argv);

  options_forget(envp);
  for (char **entry = envp; *entry != NULL; entry++)
    require(strncmp(*entry, "FOSTER_OPTIONS=", 15) != 0);
  for (char **word = all; *word != NULL; word++)
    free(*word);
  for (char **word = argv; *word != NULL; word++)
    free(*word);
  return 0;
}
