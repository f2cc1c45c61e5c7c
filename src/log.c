#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "calls.h"
#include "scan.h"

/* linux/fs.h has it, but musl-gcc sees no linux/ headers. */
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

enum log_level log_level = LOG_WARNING;

__attribute__((noinline)) struct line line_over(char *text, size_t size) {
  text[0] = '\0';
  return (struct line){.text = text, .size = size};
}

/* Append all of `bytes` or nothing, so that a cut never goes through an escape
 * or a character. After the first cut nothing more gets in: no holes. */
static void append(struct line *line, const char *bytes, size_t count) {
  if (line->truncated || count >= line->size - line->length) {
    line->truncated = 1;
    return;
  }
  memcpy(line->text + line->length, bytes, count);
  line->length += count;
}

/* Decode the character at `bytes`, which end with a zero. Returns its length,
 * or 0 if that is no valid UTF-8 (overlong forms and surrogates are not). */
static size_t decode(const unsigned char *bytes, unsigned *point) {
  unsigned value = bytes[0];
  size_t count = value < 0x80 ? 1 : value < 0xe0 ? 2 : value < 0xf0 ? 3 : 4;

  *point = value;
  if (count == 1)
    return 1;
  if (value < 0xc2 || value > 0xf4)
    return 0;
  value &= 0x7fU >> count;
  for (size_t i = 1; i < count; i++) {
    if ((bytes[i] & 0xc0) != 0x80)
      return 0;
    value = value << 6 | (bytes[i] & 0x3fU);
  }
  if ((count == 3 && value < 0x800) || (count == 4 && value < 0x10000) ||
      value > 0x10ffff || value >> 11 == 0xd800 >> 11)
    return 0;
  *point = value;
  return count;
}

/* C1 control characters are escaped too: U+009B is ESC [ to a terminal. */
static void append_escaped(struct line *line, const char *string) {
  const char *const digits = "0123456789abcdef";

  while (*string != '\0') {
    unsigned point;
    size_t count = decode((const unsigned char *)string, &point);
    bool json = line->escape == LINE_JSON;

    if (count == 0 || point < 0x20 || (point >= 0x7f && point < 0xa0)) {
      char escape[] = {
          '\\', 'u', '0', '0', digits[point >> 4 & 15], digits[point & 15]};
      if (json) {
        append(line, escape, 6);
      } else {
        escape[2] = '\\';
        escape[3] = 'x';
        append(line, escape + 2, 4);
      }
    } else if (json && (point == '"' || point == '\\')) {
      append(line, (char[]){'\\', *string}, 2);
    } else {
      append(line, string, count);
    }
    string += count != 0 ? count : 1;
  }
}

static void append_number(struct line *line, unsigned long long value) {
  char digits[20]; /* of 2^64 */
  size_t at = sizeof(digits);

  do {
    digits[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  append(line, digits + at, sizeof(digits) - at);
}

static void append_signed(struct line *line, int value) {
  if (value < 0)
    append(line, "-", 1);
  append_number(line, value < 0 ? 0 - (unsigned)value : (unsigned)value);
}

static void format_arguments(struct line *line, const char *format,
                             va_list arguments) {
  for (; *format != '\0'; format++) {
    if (*format != '%') {
      append(line, format, 1);
      continue;
    }
    switch (*++format) {
    case 's':
      append_escaped(line, va_arg(arguments, const char *));
      break;
    case 'd':
      append_signed(line, va_arg(arguments, int));
      break;
    case 'u':
      append_number(line, va_arg(arguments, unsigned));
      break;
    case 'l': /* %llu */
      format += 2;
      append_number(line, va_arg(arguments, unsigned long long));
      break;
    default:
      append(line, format, 1);
    }
  }
  if (line->size > 0)
    line->text[line->length] = '\0';
}

void line_format(struct line *line, const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  format_arguments(line, format, arguments);
  va_end(arguments);
}

const char *brief(const char *format, ...) {
  /* Behind all else, since most runs have nothing to say. */
  static char texts[BRIEF_TEXTS][BRIEF_SIZE]
      __attribute__((section(".bss.~~")));
  static unsigned turn;
  char(*text)[BRIEF_SIZE] = &texts[turn++ % BRIEF_TEXTS];
  struct line line = LINE(*text);
  va_list arguments;

  va_start(arguments, format);
  format_arguments(&line, format, arguments);
  va_end(arguments);
  return line.text;
}

void log_line(enum log_level level, const char *format, ...) {
  static const char ending[] = "...\n";
  /* Before a page of the stack is touched for the text. */
  if (level > log_level)
    return;
  char text[1024]; /* below PIPE_BUF: lines of two writers never mix */
  struct line line = LINE(text);
  va_list arguments;
  int error = errno;

  line.size -= sizeof(ending) - 1;
  line_format(&line, "foster: ");
  va_start(arguments, format);
  format_arguments(&line, format, arguments);
  va_end(arguments);
  if (level == LOG_FAILURE)
    line_format(&line, ": %s", error_words(error));
  size_t cut = line.truncated ? 0 : sizeof(ending) - 2;
  memcpy(text + line.length, ending + cut, sizeof(ending) - cut);
  /* A line that cannot be written is lost: there is nobody else to tell. */
  (void)write_nonblocking(STDERR_FILENO, text,
                          line.length + sizeof(ending) - 1 - cut);
  errno = error;
}

bool print(const char *text, size_t length) {
  ssize_t written = write(STDOUT_FILENO, text, length);
  if (written == (ssize_t)length)
    return true;
  if (written >= 0)
    errno = ENOSPC;
  log_line(LOG_FAILURE, "stdout");
  return false;
}

/* For what has no RWF_NOWAIT: terminals, and pipes and sockets before Linux
 * 6.4. O_NONBLOCK is a property of the open file, which the program and the
 * caller share, so it is not ours to set there: they would see EAGAIN. */
static ssize_t write_old(int fd, const char *bytes, size_t length) {
  ssize_t written = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);

  if (written >= 0 || errno != ENOTSOCK)
    return written;
  int own = call_open(brief("/proc/self/fd/%d", fd),
                      O_WRONLY | O_NONBLOCK | O_NOCTTY);
  if (own >= 0) {
    written = write(own, bytes, length);
    int saved = errno;
    (void)close(own);
    errno = saved;
    return written;
  }
  /* Another writer may fill it between the two calls: without /proc, or the
   * right to open it, there is nothing better. */
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  if (poll(&ready, 1, 0) > 0)
    return write(fd, bytes, length);
  errno = EAGAIN;
  return -1;
}

int write_nonblocking(int fd, const char *bytes, size_t length) {
  /* iov_base is not const only because of readv(2). */
  struct iovec vector = {.iov_base = (void *)(uintptr_t)bytes,
                         .iov_len = length};
  ssize_t written =
      syscall(SYS_pwritev2, fd, &vector, 1L, -1L, -1L, (long)RWF_NOWAIT);

  if (written < 0) {
    int error = errno;
    /* What has a position is a file, and waits for no reader; some file
     * systems say EAGAIN all the same. */
    if (lseek(fd, 0, SEEK_CUR) >= 0)
      written = write(fd, bytes, length);
    else if (error != EAGAIN)
      written = write_old(fd, bytes, length);
    else
      errno = EAGAIN;
  }
  if (written < 0)
    return -1;
  if ((size_t)written == length)
    return 0;
  errno = EAGAIN;
  return -1;
}

/* One string, not one array a line: it is half as large. */
#define KNOWN_ERRORS(X)                                                        \
  X(E2BIG, "argument list too long")                                           \
  X(EACCES, "permission denied")                                               \
  X(EAGAIN, "resource temporarily unavailable")                                \
  X(EBADF, "bad file descriptor")                                              \
  X(EBUSY, "device or resource busy")                                          \
  X(EFBIG, "file too large")                                                   \
  X(EINVAL, "invalid argument")                                                \
  X(EIO, "input/output error")                                                 \
  X(EISDIR, "is a directory")                                                  \
  X(ELIBBAD, "damaged shared library")                                         \
  X(ELOOP, "too many levels of symbolic links")                                \
  X(EMFILE, "too many open files")                                             \
  X(ENAMETOOLONG, "file name too long")                                        \
  X(ENFILE, "too many open files in the system")                               \
  X(ENODEV, "no such device")                                                  \
  X(ENOENT, "no such file or directory")                                       \
  X(ENOEXEC, "exec format error")                                              \
  X(ENOMEM, "out of memory")                                                   \
  X(ENOSPC, "no space left on device")                                         \
  X(ENOSYS, "function not implemented")                                        \
  X(ENOTDIR, "not a directory")                                                \
  X(ENXIO, "no such device or address")                                        \
  X(EOPNOTSUPP, "operation not supported")                                     \
  X(EPERM, "operation not permitted")                                          \
  X(EPIPE, "broken pipe")                                                      \
  X(EROFS, "read-only file system")                                            \
  X(ESRCH, "no such process")                                                  \
  X(ETXTBSY, "text file busy")                                                 \
  X(EDQUOT, "disk quota exceeded")
#define NUMBER(error, words) error,
#define WORDS(error, words) words "\0"

const char *error_words(int error) {
  static const unsigned char numbers[] = {KNOWN_ERRORS(NUMBER)};
  static const char words[] = KNOWN_ERRORS(WORDS);
  const char *at = words;

  for (size_t i = 0; i < sizeof(numbers); i++, at += length_of(at) + 1)
    if (numbers[i] == error)
      return at;
  return brief("error %d", error);
}
