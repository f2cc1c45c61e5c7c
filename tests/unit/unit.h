/* Checks for the unit tests: plain programs, one a source file. A check that
 * fails says which and what it saw, and the program goes on; it ends with
 * `return unit_result();`. */
#ifndef FOSTER_UNIT_H
#define FOSTER_UNIT_H

#include <stdio.h>
#include <string.h>

static int unit_failures;

static inline int unit_result(void) {
  if (unit_failures != 0)
    fprintf(stderr, "%d checks failed\n", unit_failures);
  return unit_failures != 0;
}

static inline void unit_fail(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  unit_failures++;
}

/* The condition holds. */
#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      unit_fail(__FILE__, __LINE__, #condition);                               \
  } while (0)

/* Two integers are the same. */
#define CHECK_NUMBER(actual, expected)                                         \
  do {                                                                         \
    long long is = (long long)(actual), should = (long long)(expected);        \
    if (is != should) {                                                        \
      unit_fail(__FILE__, __LINE__, #actual);                                  \
      fprintf(stderr, "  is:     %lld\n  should: %lld\n", is, should);         \
    }                                                                          \
  } while (0)

/* Two strings are the same; neither may be NULL. */
#define CHECK_STRING(actual, expected)                                         \
  do {                                                                         \
    const char *is = (actual), *should = (expected);                           \
    if (strcmp(is, should) != 0) {                                             \
      unit_fail(__FILE__, __LINE__, #actual);                                  \
      fprintf(stderr, "  is:     %s\n  should: %s\n", is, should);             \
    }                                                                          \
  } while (0)

#endif
