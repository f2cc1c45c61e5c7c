/* Message building and the one write to stderr. */
#ifndef FOSTER_LOG_H
#define FOSTER_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level {
  LOG_NONE = -2, /* stderr was closed at the start: what is 2 is not ours */
  LOG_FAILURE,   /* as LOG_WARNING; ": " and the words for errno are appended */
  LOG_WARNING,   /* always said */
  LOG_VERBOSE,   /* -v */
  LOG_DEBUG,     /* -vv: every signal and every wait */
};

/* How much is said; the only global. LOG_WARNING from the first instruction on,
 * so that usage errors are heard; main sets it once, from the options. */
extern enum log_level log_level;

/* How line_format() renders the bytes that come in by %s. */
enum line_escape {
  LINE_PLAIN, /* control bytes as \xHH, so that a line stays one line */
  LINE_JSON,  /* as the inside of a JSON string: valid for any bytes */
};

/* Text under construction. What does not fit is cut off, and `truncated` says
 * so; `text` is always terminated. */
struct line {
  char *text;
  size_t size; /* bytes at text, the terminator included */
  size_t length;
  enum line_escape escape;
  int truncated;
};

/* An empty line over a char array. */
#define LINE(array) line_over((array), sizeof(array))
struct line line_over(char *text, size_t size);

/* Append to a line. A small part of printf(3): %s (escaped as the line says),
 * %d %u %llu and %%; no flags, no widths. */
void line_format(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A short text, made by line_format(): a name, a number, a path below /proc. It
 * stays until so many others have been made: they take turns. */
enum { BRIEF_SIZE = 40, BRIEF_TEXTS = 5 };
const char *brief(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Write "foster: ", the text and a newline to stderr in one write that never
 * blocks: if stderr cannot take it at once the line is lost. Of a line longer
 * than 1 KiB the end is cut off and replaced by "...". Nothing is written if
 * level is above log_level. errno is left as it was. */
void log_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Write to stdout. Returns false, with a warning, if not all could be. */
bool print(const char *text, size_t length);

/* Write `length` bytes to fd without ever blocking, in one write. Returns 0, or
 * -1 with errno: EAGAIN where fd could not take them, or not all, at once. */
int write_nonblocking(int fd, const char *bytes, size_t length);

/* Our own words for an errno, the same with every libc; "error N" for those
 * that foster never meets. */
const char *error_words(int error);

#endif
