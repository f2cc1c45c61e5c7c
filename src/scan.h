/* Reading text. A few small functions in place of many of libc's, which are
 * made for speed: together those are five times as large. Pure. */
#ifndef FOSTER_SCAN_H
#define FOSTER_SCAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What follows `prefix` in a text that begins with it; else NULL. */
const char *after(const char *text, const char *prefix);

bool same(const char *one, const char *other);

/* How many bytes come before the first that is one of `ends`, or before the end
 * of the text. */
size_t until(const char *text, const char *ends);

/* How many bytes at the beginning are of these. */
size_t span(const char *text, const char *of);

size_t length_of(const char *text);

/* The last such byte in the text, or NULL. */
const char *last(const char *text, char byte);

/* The first such byte among the `length` at `bytes`, or NULL. */
const char *find(const char *bytes, size_t length, char byte);

bool is_digit(char byte);

/* Read the decimal number that the text begins with, and move past it. Returns
 * -1, without moving, if there is none or it is above `most`. */
int64_t scan_number(const char **text, int64_t most);

/* The value of a variable in an environment, or NULL. */
const char *environment_value(char **envp, const char *name);

/* The next file that a search for `name` tries, put together in `file`;
 * *search, which begins as the PATH, moves on, and is NULL behind the last. An
 * empty element is the current directory. False if there is no more. */
bool path_next(const char **search, const char *name, char file[PATH_MAX]);

#endif
