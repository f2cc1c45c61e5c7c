/* Any file that could not be executed, with any errno: nothing is read beyond
 * what there is, and what comes out is one line. The input is the file; it is
 * also taken for each file that tells of our cgroup. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file;
static char path[64], root[] = "/tmp/foster-fuzz-XXXXXX";

static void require(bool condition) {
  if (!condition)
    abort();
}

static void require_one_line(const struct line *line) {
  require(line->length < line->size && line->text[line->length] == '\0');
  for (size_t i = 0; i < line->length; i++)
    require((unsigned char)line->text[i] >= 0x20 && line->text[i] != 0x7f);
}

static void remove_root(void) {
  char command[96];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  (void)!system(command);
}

/* Files that are all the input, where death.c looks for cgroups. */
static void prepare(void) {
  static const char *const folders[] = {
      "/proc",   "/proc/self",     "/sys",
      "/sys/fs", "/sys/fs/cgroup", "/sys/fs/cgroup/memory"};
  static const char *const files[] = {
      "/proc/self/cgroup", "/sys/fs/cgroup/memory.events",
      "/sys/fs/cgroup/memory/memory.oom_control",
      "/sys/fs/cgroup/memory/cgroup.procs"};
  char name[128];

  file = memfd_create("input", 0);
  require(file >= 0 && fchmod(file, 0755) == 0);
  (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
  require(mkdtemp(root) != NULL && atexit(remove_root) == 0);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    (void)snprintf(name, sizeof name, "%s%s", root, folders[i]);
    require(mkdir(name, 0755) == 0);
  }
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    (void)snprintf(name, sizeof name, "%s%s", root, files[i]);
    require(symlink(path, name) == 0);
  }
  (void)snprintf(name, sizeof name, "%s/sys/fs/cgroup/cgroup.procs", root);
  FILE *pids = fopen(name, "we");
  require(pids && fprintf(pids, "%d\n", (int)getpid()) > 0 &&
          fclose(pids) == 0);
}

static void explain(const char *name, const char *search, int error) {
  char text[1024];
  struct line line = LINE(text);
  explain_exec(&line, name, path, search, error);
  require(line.length > 0);
  require_one_line(&line);
  int code = explain_exit_code(path, error);
  require(code == 126 || code == 127);
}

/* The heads in an allocation of their own, so that reading behind it is seen.
 */
static void read_head(const uint8_t *data, size_t size) {
  struct head *head = calloc(1, sizeof *head);
  char *interpreter = malloc(HEAD_SIZE), *argument = malloc(HEAD_SIZE);
  struct elf elf;

  require(head && interpreter && argument);
  head->length = size < HEAD_SIZE ? size : HEAD_SIZE;
  if (head->length > 0)
    memcpy(head->bytes, data, head->length);
  if (script_read(head, interpreter, argument) == SCRIPT_FOUND) {
    require(strlen(interpreter) > 0 && strlen(interpreter) < HEAD_SIZE - 2);
    require(strlen(argument) < HEAD_SIZE - 2);
    require(!looks_like_text(head));
  }
  if (elf_read(head, &elf)) {
    require(!looks_like_text(head));
    elf_foreign(&elf, "x86_64");
    require(!elf_foreign(&elf, elf_machine(&elf) ? elf_machine(&elf) : ""));
  }
  free(head);
  free(interpreter);
  free(argument);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int errors[] = {ENOENT, EACCES, ENOEXEC, ELIBBAD, ELOOP, ENOMEM};
  char text[512];

  if (path[0] == '\0')
    prepare();
  read_head(data, size);
  require(ftruncate(file, 0) == 0);
  require(pwrite(file, data, size, 0) == (ssize_t)size);
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    explain(path, NULL, errors[i]);
  explain("x", "/bin", ENOEXEC);
  is_shell_script(path);

  struct line line = LINE(text);
  if (explain_env(&line, path, "/nowhere:/bin"))
    require_one_line(&line);
  require(oom_kills_under(root, true) >= -1);

  char *string = malloc(size + 1);
  require(string != NULL);
  if (size > 0)
    memcpy(string, data, size);
  string[size] = '\0';
  bool v1;
  const char *cgroup = memory_cgroup(string, &v1);
  require(!cgroup || (cgroup >= string && cgroup <= string + size));
  free(string);
  return 0;
}
