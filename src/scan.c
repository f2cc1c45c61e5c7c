#include "scan.h"

#include <string.h>

const char *after(const char *text, const char *prefix) {
  for (; *prefix != '\0'; text++, prefix++)
    if (*text != *prefix)
      return NULL;
  return text;
}

bool same(const char *one, const char *other) {
  const char *rest = after(one, other);
  return rest != NULL && *rest == '\0';
}

size_t until(const char *text, const char *ends) {
  size_t length = 0;
  for (; text[length] != '\0'; length++)
    for (const char *end = ends; *end != '\0'; end++)
      if (text[length] == *end)
        return length;
  return length;
}

size_t span(const char *text, const char *of) {
  size_t length = 0;
  while (text[length] != '\0' && until(text + length, of) == 0)
    length++;
  return length;
}

size_t length_of(const char *text) { return until(text, ""); }

const char *last(const char *text, char byte) {
  const char *found = NULL;
  for (; *text != '\0'; text++)
    if (*text == byte)
      found = text;
  return found;
}

const char *find(const char *bytes, size_t length, char byte) {
  for (; length > 0; bytes++, length--)
    if (*bytes == byte)
      return bytes;
  return NULL;
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

int64_t scan_number(const char **text, int64_t most) {
  const char *at = *text;
  int64_t value = is_digit(*at) ? 0 : -1;
  for (; is_digit(*at); at++) {
    value = value * 10 + (*at - '0');
    if (value > most)
      return -1;
  }
  *text = at;
  return value;
}

const char *environment_value(char **envp, const char *name) {
  for (; *envp != NULL; envp++) {
    const char *rest = after(*envp, name);
    if (rest != NULL && *rest == '=')
      return rest + 1;
  }
  return NULL;
}

bool path_next(const char **search, const char *name, char file[PATH_MAX]) {
  const size_t size = length_of(name) + 1;
  while (*search != NULL) {
    const char *directory = *search;
    size_t length = until(directory, ":");
    *search = directory[length] != '\0' ? directory + length + 1 : NULL;
    if (length == 0) {
      directory = ".";
      length = 1;
    }
    if (length + 1 + size > PATH_MAX)
      continue;
    memcpy(file, directory, length);
    file[length] = '/';
    memcpy(file + length + 1, name, size);
    return true;
  }
  return false;
}
