/* Building lines, and writing them without ever waiting. */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "unit.h"

static char text[4096];

static const char *escaped(enum line_escape escape, const char *string) {
  struct line line = LINE(text);

  line.escape = escape;
  line_format(&line, "%s", string);
  return text;
}

/* ---- Building ---- */

static void numbers_and_words(void) {
  struct line line = LINE(text);

  line_format(&line, "%d %d %u|", INT_MIN, 7, UINT_MAX);
  line_format(&line, "%llu %llu|%%%s.", 0ULL, ULLONG_MAX, "");
  CHECK_STRING(text, "-2147483648 7 4294967295|0 18446744073709551615|%.");
  CHECK_NUMBER(line.length, strlen(text));
  CHECK_NUMBER(line.truncated, 0);
}

static void a_plain_line_stays_one_line(void) {
  CHECK_STRING(escaped(LINE_PLAIN, "a\nb\r\t\x1b[31m\x7f \"\\"),
               "a\\x0ab\\x0d\\x09\\x1b[31m\\x7f \"\\");
  CHECK_STRING(escaped(LINE_PLAIN, "é€😀"), "é€😀");
  /* Lone continuation, overlong, surrogate, beyond Unicode, cut off. */
  CHECK_STRING(escaped(LINE_PLAIN, "\x80"), "\\x80");
  CHECK_STRING(escaped(LINE_PLAIN, "\xc0\xaf"), "\\xc0\\xaf");
  CHECK_STRING(escaped(LINE_PLAIN, "\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  CHECK_STRING(escaped(LINE_PLAIN, "\xed\xa0\x80"), "\\xed\\xa0\\x80");
  CHECK_STRING(escaped(LINE_PLAIN, "\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  CHECK_STRING(escaped(LINE_PLAIN, "\xff"
                                   "a"),
               "\\xffa");
  CHECK_STRING(escaped(LINE_PLAIN, "\xe2\x82"), "\\xe2\\x82");
  /* C1: a terminal takes U+009B for ESC [. */
  CHECK_STRING(escaped(LINE_PLAIN, "\xc2\x9b\xc2\xa0"), "\\x9b\xc2\xa0");
}

static void json_is_escaped(void) {
  CHECK_STRING(escaped(LINE_JSON, "a\"b\\c/\n\x01"),
               "a\\\"b\\\\c/\\u000a\\u0001");
  CHECK_STRING(escaped(LINE_JSON, "é\xff\xc2\x9b"), "é\\u00ff\\u009b");
  /* The format itself is not. */
  struct line line = LINE(text);
  line.escape = LINE_JSON;
  line_format(&line, "{\"a\":\"%s\"}", "\"");
  CHECK_STRING(text, "{\"a\":\"\\\"\"}");
}

/* The judge is libc. */
static bool valid_utf8(const char *string) {
  return mbstowcs(NULL, string, 0) != SIZE_MAX;
}

/* No control byte, no lone quote, every backslash starts an escape. */
static bool json_string(const char *string) {
  for (; *string != '\0'; string++) {
    if ((unsigned char)*string < 0x20 || *string == '"')
      return false;
    if (*string == '\\') {
      string++;
      if (*string == 'u' && strspn(string + 1, "0123456789abcdef") >= 4)
        string += 4;
      else if (*string != '"' && *string != '\\')
        return false;
    }
  }
  return true;
}

/* All strings of two bytes, and each character of up to four with one byte
 * changed: both escapes give valid UTF-8, JSON's a valid string. */
static void any_bytes_are_made_valid(void) {
  static const char *const characters[] = {"é", "€", "😀", "\xed\x9f\xbf",
                                           "\xf4\x8f\xbf\xbf"};
  char bytes[6];
  bool valid = true;

  for (unsigned pair = 0; pair <= 0xffff; pair++) {
    bytes[0] = (char)(pair >> 8);
    bytes[1] = (char)pair;
    bytes[2] = '\0';
    valid = valid && valid_utf8(escaped(LINE_PLAIN, bytes));
    valid = valid && valid_utf8(escaped(LINE_JSON, bytes)) && json_string(text);
  }
  CHECK(valid);
  for (size_t i = 0; i < sizeof(characters) / sizeof(*characters); i++) {
    CHECK_STRING(escaped(LINE_JSON, characters[i]), characters[i]);
    for (size_t at = 0; at < strlen(characters[i]); at++)
      for (unsigned byte = 0; byte <= 0xff; byte++) {
        strcpy(bytes, characters[i]);
        bytes[at] = (char)byte;
        valid = valid && valid_utf8(escaped(LINE_JSON, bytes));
        valid = valid && json_string(text);
      }
  }
  CHECK(valid);
}

/* Whatever the size, the text is a beginning of the whole that ends between
 * two escapes or characters, and nothing is written behind it. */
static void a_cut_goes_through_nothing(void) {
  static const char whole[] = "x\\u000aé\\\"12😀-";

  for (size_t size = 1; size <= sizeof(whole) + 1; size++) {
    struct line line = {.text = text, .size = size, .escape = LINE_JSON};

    memset(text, '#', sizeof(whole) + 2);
    line_format(&line, "%s%u%s", "x\né\"", 12U, "😀");
    line_format(&line, "-");
    CHECK_NUMBER(strlen(text), line.length);
    CHECK(strncmp(text, whole, line.length) == 0);
    CHECK(line.length < size && text[size] == '#');
    CHECK(json_string(text) && valid_utf8(text));
    CHECK_NUMBER(line.truncated, size < sizeof(whole));
  }
}

static void errors_have_words(void) {
  CHECK_STRING(error_words(ENOENT), "no such file or directory");
  CHECK_STRING(error_words(E2BIG), "argument list too long");
  CHECK_STRING(error_words(EDQUOT), "disk quota exceeded");
  CHECK_STRING(error_words(ENOEXEC), "exec format error");
  CHECK_STRING(error_words(999), "error 999");
  CHECK_STRING(error_words(0), "error 0");
}

/* ---- Writing ---- */

static char big[8192];

/* Write lines until fd takes no more, which it must say, and at once. */
static size_t fill(int fd) {
  size_t count = 0;

  while (write_nonblocking(fd, big, 1000) == 0)
    count++;
  CHECK_NUMBER(errno, EAGAIN);
  CHECK((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
  return count;
}

static void drain_fd(int fd, size_t length) {
  while (length > 0) {
    ssize_t count = read(fd, big, length < sizeof(big) ? length : sizeof(big));
    if (count <= 0) {
      CHECK(count > 0);
      return;
    }
    length -= (size_t)count;
  }
}

static void a_full_pipe_loses_the_line(void) {
  int ends[2];

  CHECK(pipe(ends) == 0);
  size_t count = fill(ends[1]);
  CHECK(count >= 3);
  drain_fd(ends[0], 4000);
  while (write_nonblocking(ends[1], big, 1000) == 0)
    ;
  CHECK_NUMBER(errno, EAGAIN);
  CHECK(close(ends[0]) == 0);
  CHECK_NUMBER(write_nonblocking(ends[1], big, 10), -1);
  CHECK_NUMBER(errno, EPIPE);
  CHECK(close(ends[1]) == 0);
}

static void a_full_socket_loses_the_line(void) {
  int ends[2];

  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  CHECK(fill(ends[1]) >= 3);
  CHECK(close(ends[0]) == 0);
  CHECK(close(ends[1]) == 0);
}

static void a_full_terminal_loses_the_line(void) {
  int master = posix_openpt(O_RDWR | O_NOCTTY);
  struct termios raw;

  CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
  CHECK(terminal >= 0 && tcgetattr(terminal, &raw) == 0);
  cfmakeraw(&raw);
  CHECK(tcsetattr(terminal, TCSANOW, &raw) == 0);
  CHECK(fill(terminal) >= 3);
  CHECK(close(terminal) == 0);
  CHECK(close(master) == 0);
}

static void a_file_is_appended_to(void) {
  char name[] = "/tmp/foster-test-XXXXXX";
  int fd = mkstemp(name);

  CHECK(fd >= 0 && write(fd, "old", 3) == 3 && close(fd) == 0);
  fd = open(name, O_RDWR | O_APPEND);
  CHECK(write_nonblocking(fd, "one", 3) == 0);
  CHECK(write_nonblocking(fd, "two", 3) == 0);
  CHECK_NUMBER(pread(fd, big, sizeof(big), 0), 9);
  CHECK(memcmp(big, "oldonetwo", 9) == 0);
  CHECK(close(fd) == 0);
  /* And without O_APPEND from where the shared position is. */
  fd = open(name, O_RDWR);
  CHECK(lseek(fd, 3, SEEK_SET) == 3);
  CHECK(write_nonblocking(fd, "ONE", 3) == 0 && lseek(fd, 0, SEEK_CUR) == 6);
  CHECK(write_nonblocking(fd, "TWO", 3) == 0);
  CHECK_NUMBER(pread(fd, big, sizeof(big), 0), 9);
  CHECK(memcmp(big, "oldONETWO", 9) == 0);
  CHECK(close(fd) == 0 && unlink(name) == 0);
}

static void errors_are_told(void) {
  int fd = open("/dev/null", O_RDONLY);

  CHECK_NUMBER(write_nonblocking(fd, big, 1), -1);
  CHECK_NUMBER(errno, EBADF);
  CHECK(close(fd) == 0);
  CHECK_NUMBER(write_nonblocking(fd, big, 1), -1);
  CHECK_NUMBER(errno, EBADF);
  fd = open("/dev/full", O_WRONLY);
  CHECK_NUMBER(write_nonblocking(fd, big, 1), -1);
  CHECK_NUMBER(errno, ENOSPC);
  CHECK(close(fd) == 0);
}

/* What goes to stderr between the two, by way of a pipe. */
static int stderr_ends[2], saved_stderr;
static void catch_stderr(void) {
  saved_stderr = dup(STDERR_FILENO);
  CHECK(pipe(stderr_ends) == 0 && saved_stderr >= 0);
  CHECK(dup2(stderr_ends[1], STDERR_FILENO) == STDERR_FILENO &&
        close(stderr_ends[1]) == 0);
}
static const char *caught(void) {
  CHECK(dup2(saved_stderr, STDERR_FILENO) == STDERR_FILENO &&
        close(saved_stderr) == 0);
  ssize_t count = read(stderr_ends[0], text, sizeof(text) - 1);
  CHECK(count >= 0 && close(stderr_ends[0]) == 0);
  text[count < 0 ? 0 : count] = '\0';
  return text;
}

static const char *logged(enum log_level level, const char *string) {
  catch_stderr();
  errno = ENOLCK;
  log_line(level, "%s %d", string, 5);
  int error = errno;
  caught();
  CHECK_NUMBER(error, ENOLCK);
  return text;
}

static const char *failed(void) {
  catch_stderr();
  errno = EPIPE;
  log_line(LOG_FAILURE, "it");
  return caught();
}

/* What fits is written, and that it was not all is an error. */
static void a_full_stdout_is_told(void) {
  char name[] = "/tmp/foster-test-XXXXXX";
  int fd = mkstemp(name), saved = dup(STDOUT_FILENO);
  struct rlimit before, limit;

  CHECK(fd >= 0 && saved >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 10;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(print("12345", 5));
  catch_stderr();
  bool printed = print("1234567890", 10);
  caught();
  CHECK(!printed);
  CHECK_STRING(text, "foster: stdout: no space left on device\n");
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO && close(saved) == 0);
  CHECK_NUMBER(pread(fd, big, sizeof(big), 0), 10);
  CHECK(close(fd) == 0 && unlink(name) == 0);
}

static void only_what_the_level_asks_for_is_said(void) {
  CHECK_STRING(logged(LOG_WARNING, "a"), "foster: a 5\n");
  CHECK_STRING(logged(LOG_VERBOSE, "a"), "");
  log_level = LOG_VERBOSE;
  CHECK_STRING(logged(LOG_VERBOSE, "a"), "foster: a 5\n");
  CHECK_STRING(logged(LOG_DEBUG, "a"), "");
  log_level = LOG_DEBUG;
  CHECK_STRING(logged(LOG_DEBUG, "a"), "foster: a 5\n");
  log_level = LOG_NONE;
  CHECK_STRING(logged(LOG_WARNING, "a"), "");
  CHECK_STRING(failed(), "");
  log_level = LOG_WARNING;
  CHECK_STRING(failed(), "foster: it: broken pipe\n");
}

static void a_long_line_is_cut(void) {
  char string[1100];

  for (size_t length = 990; length < sizeof(string); length++) {
    memset(string, 'a', length);
    string[length] = '\0';
    logged(LOG_WARNING, string);
    size_t whole = strlen("foster: ") + length + strlen(" 5\n");
    if (strstr(text, " 5\n") != NULL) {
      CHECK_NUMBER(strlen(text), whole);
    } else {
      CHECK(whole > 1020 && strlen(text) <= 1024 && strlen(text) > 1000);
      CHECK_STRING(text + strlen(text) - 4, "...\n");
    }
  }
}

int main(void) {
  /* A write that waits is a failure that must not hang. */
  alarm(60);
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGXFSZ, SIG_IGN); /* valgrind has files of its own */
  CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
  numbers_and_words();
  a_plain_line_stays_one_line();
  json_is_escaped();
  any_bytes_are_made_valid();
  a_cut_goes_through_nothing();
  errors_have_words();
  a_full_pipe_loses_the_line();
  a_full_socket_loses_the_line();
  a_full_terminal_loses_the_line();
  a_file_is_appended_to();
  errors_are_told();
  a_full_stdout_is_told();
  only_what_the_level_asks_for_is_said();
  a_long_line_is_cut();
  return unit_result();
}
