/* Searching PATH, and links that are too long. */
#include "calls.h"
#include "scan.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char file[PATH_MAX];

static void each_folder_has_its_turn(void) {
  const char *search = "/bin::/usr/bin:";

  CHECK(path_next(&search, "sh", file));
  CHECK_STRING(file, "/bin/sh");
  CHECK(path_next(&search, "sh", file));
  CHECK_STRING(file, "./sh");
  CHECK(path_next(&search, "sh", file));
  CHECK_STRING(file, "/usr/bin/sh");
  CHECK(path_next(&search, "sh", file));
  CHECK_STRING(file, "./sh");
  CHECK(!path_next(&search, "sh", file));
}

/* PATH_MAX counts the zero. */
static void a_path_that_is_too_long_is_left_out(void) {
  for (size_t length = PATH_MAX - 8; length < PATH_MAX; length++) {
    char folders[PATH_MAX + 8] = "/";
    memset(folders + 1, 'a', length - 1);
    memcpy(folders + length, ":/bin", sizeof ":/bin");
    const char *search = folders;
    CHECK(path_next(&search, "sh", file));
    if (length + sizeof "/sh" <= PATH_MAX) {
      CHECK_NUMBER(strlen(file), length + strlen("/sh"));
      CHECK(path_next(&search, "sh", file));
    }
    CHECK_STRING(file, "/bin/sh");
    CHECK(!path_next(&search, "sh", file));
  }
}

static void a_link_that_is_too_long_is_no_link(void) {
  char folder[] = "/tmp/foster-test-XXXXXX", target[8];

  CHECK(mkdtemp(folder) != NULL);
  int fd = open(folder, O_RDONLY | O_DIRECTORY);
  CHECK(symlinkat("1234567", fd, "short") == 0);
  CHECK(symlinkat("12345678", fd, "long") == 0);
  CHECK(call_readlink(fd, "short", target, sizeof target));
  CHECK_STRING(target, "1234567");
  CHECK(!call_readlink(fd, "long", target, sizeof target));
  CHECK_NUMBER(errno, ENAMETOOLONG);
  CHECK(!call_readlink(fd, "missing", target, sizeof target));
  CHECK_NUMBER(errno, ENOENT);
  CHECK(unlinkat(fd, "short", 0) == 0 && unlinkat(fd, "long", 0) == 0);
  CHECK(close(fd) == 0 && rmdir(folder) == 0);
}

int main(void) {
  each_folder_has_its_turn();
  a_path_that_is_too_long_is_left_out();
  a_link_that_is_too_long_is_no_link();
  return unit_result();
}
