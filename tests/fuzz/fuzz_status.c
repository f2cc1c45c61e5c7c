/* A hostile status page: whatever is in it, what is accepted is valid JSON.
 * And a hostile /proc/PID/stat: a process chooses its own name. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "status_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Strings closed, only escapes that JSON has, no control bytes, every bracket
 * closed: what cannot be said of text that a string broke out of. */
static void check_json(const char *text) {
  int depth = 0;
  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '{' || *at == '}') {
      depth += *at == '{' ? 1 : -1;
    } else if (*at == '"') {
      for (at++; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
          abort();
        if (*at == '\\' && strchr("\"\\u", *++at) == NULL)
          abort();
      }
    } else if (strchr("0123456789.-:,nul", *at) == NULL) {
      abort();
    }
    if (depth < 0)
      abort();
  }
  if (depth != 0)
    abort();
}

static void page(const uint8_t *data, size_t size) {
  static const nanoseconds times[] = {0, 1, 1000 * SECOND, INT64_MAX};
  struct status page = {0};
  memcpy(&page, data, size < sizeof page ? size : sizeof page);
  if (status_foreign(&page) && status_valid(&page))
    abort();
  if (!status_valid(&page))
    return;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    char text[STATUS_JSON_SIZE];
    struct line line = LINE(text);
    line.escape = LINE_JSON;
    status_json(&line, &page, times[i], i % 2 ? "ended" : NULL);
    if (line.truncated || strlen(text) != line.length)
      abort();
    check_json(text);
  }
}

static void stat_file(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  struct process process;
  if (text == NULL)
    return;
  memcpy(text, data, size);
  text[size] = '\0';
  if (process_parse(text, &process) &&
      (process.parent < 0 || process.threads < 0))
    abort();
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  page(data, size);
  stat_file(data, size);
  return 0;
}
