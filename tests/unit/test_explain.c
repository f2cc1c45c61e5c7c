/* Why an exec failed: the kernel is asked for the errno of each case, and the
 * words must fit; with another errno they must not be said. */
#include "explain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char text[1024];

static const char *explain(const char *name, const char *path,
                           const char *search, int error) {
  struct line line = LINE(text);
  explain_exec(&line, name, path, search, error);
  CHECK_NUMBER(strlen(text), line.length);
  return text;
}

static void put_bytes(const char *path, const void *bytes, size_t length,
                      mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  CHECK(fd >= 0);
  CHECK(write(fd, bytes, length) == (ssize_t)length);
  CHECK(fchmod(fd, mode) == 0);
  close(fd);
}

#define PUT(path, literal) put_bytes(path, literal, sizeof(literal) - 1, 0755)

static char self[PATH_MAX];

/* Its errno, if there is one. */
static int try_exec(const char *path) {
  char name[] = "x", *argv[] = {name, NULL}, *envp[] = {NULL};
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, 2);
  execve(path, argv, envp);
  return errno;
}

/* The errno of a real exec, or 0. By this program anew, which valgrind does not
 * follow: what the one that it runs wants to execute it opens itself, and so
 * waits for the writer of a FIFO. */
static int exec_error(const char *path) {
  pid_t pid = fork();
  if (pid == 0) {
    execl(self, self, path, (char *)NULL);
    _exit(255);
  }
  int wstatus;
  waitpid(pid, &wstatus, 0);
  return WEXITSTATUS(wstatus);
}

/* What is said for a path that cannot be executed here and now. */
static const char *explain_path(const char *path) {
  return explain(path, path, NULL, exec_error(path));
}

static void files_that_are_not_there(void) {
  char cwd[PATH_MAX], expected[PATH_MAX + 64];
  CHECK(getcwd(cwd, sizeof cwd) != NULL);
  snprintf(expected, sizeof expected,
           "./nowhere: no such file or directory (in '%s')", cwd);
  CHECK_STRING(explain_path("./nowhere"), expected);
  CHECK_STRING(explain_path("/nowhere"), "/nowhere: no such file or directory");
  CHECK_STRING(explain_path("a/b/c"), "a/b/c: there is no directory 'a'");
  CHECK_STRING(explain_path("a//b"), "a//b: there is no directory 'a'");
  CHECK_STRING(explain_path("/dev/nowhere/b"),
               "/dev/nowhere/b: there is no directory '/dev/nowhere'");
  CHECK(symlink("missing", "link") == 0);
  CHECK_STRING(explain_path("./link"),
               "./link: is a symbolic link to 'missing', which is missing");
  CHECK_STRING(explain_path("./link/x"),
               "./link/x: there is no directory './link'");
  PUT("file", "");
  CHECK_STRING(explain_path("./file/x"), "./file/x: not a directory: './file'");
  CHECK_STRING(explain_path("./file/"), "./file/: not a directory: './file'");
  CHECK(symlink("loop", "loop") == 0);
  CHECK_STRING(explain_path("./loop"),
               "./loop: too many levels of symbolic links");
  CHECK_STRING(explain_path("./loop/x"),
               "./loop/x: too many levels of symbolic links");
}

static void names_are_told_apart_from_paths(void) {
  CHECK_STRING(explain("x", NULL, "/bin:/usr/bin", ENOENT),
               "x: not found in PATH '/bin:/usr/bin'");
  CHECK_STRING(explain("x", NULL, "", ENOENT), "x: not found in PATH ''");
  CHECK_STRING(explain("", NULL, "/bin", ENOENT),
               "the program's name is empty");
  CHECK_STRING(explain("sleep 1", NULL, "/bin", ENOENT),
               "sleep 1: not found in PATH '/bin' (the blank is part of the "
               "name: meant as two words?)");
  CHECK_STRING(explain("/bin/slep 1", "/bin/slep 1", NULL, ENOENT),
               "/bin/slep 1: no such file or directory (the blank is part of "
               "the name: meant as two words?)");
  /* Found by the search: the file is named. */
  PUT("a b", "#!/nowhere\n");
  CHECK_STRING(explain("a b", "./a b", ".", exec_error("./a b")),
               "./a b: its interpreter '/nowhere' is missing");
  CHECK_STRING(explain("x", "/x", "/", EACCES), "/x: permission denied");
}

static void files_that_may_not_be_run(void) {
  CHECK(mkdir("folder", 0755) == 0);
  CHECK_STRING(explain_path("./folder"), "./folder: is a directory");
  CHECK_STRING(explain_path("/"), "/: is a directory");
  put_bytes("plain", "#!/bin/sh\n", 10, 0644);
  CHECK_STRING(explain_path("./plain"), "./plain: has no x bit (chmod +x)");
  CHECK(mkfifo("fifo", 0755) == 0);
  CHECK_STRING(explain_path("./fifo"), "./fifo: is not a regular file");
  CHECK_STRING(explain_path("/dev/null"), "/dev/null: is not a regular file");
  PUT("needs-plain", "#!./plain\n");
  CHECK_STRING(explain_path("./needs-plain"),
               "./needs-plain: its interpreter './plain' has no x bit "
               "(chmod +x)");
  PUT("needs-folder", "#!folder\n");
  CHECK_STRING(explain_path("./needs-folder"),
               "./needs-folder: its interpreter 'folder' is a directory");
}

static void scripts(void) {
  PUT("missing", "#!/bin/nosuch -e\n");
  CHECK_STRING(explain_path("./missing"),
               "./missing: its interpreter '/bin/nosuch' is missing");
  PUT("crlf", "#! /bin/sh\r\necho\r\n");
  CHECK_STRING(explain_path("./crlf"),
               "./crlf: '#!/bin/sh\\r': the script has CRLF line ends");
  PUT("missing-crlf", "#!/bin/nosuch\r\n");
  CHECK_STRING(explain_path("./missing-crlf"),
               "./missing-crlf: '#!/bin/nosuch\\r': the script has CRLF line "
               "ends");
  PUT("escape", "#!/bin/\033[31m\n");
  CHECK_STRING(explain_path("./escape"),
               "./escape: its interpreter '/bin/\\x1b[31m' is missing");
  PUT("chain", "#!./missing\n");
  CHECK_STRING(explain_path("./chain"),
               "./chain: its interpreter '/bin/nosuch' is missing");
  CHECK(unlink("missing") == 0);
  PUT("dangling", "#!./link\n");
  CHECK_STRING(explain_path("./dangling"),
               "./dangling: its interpreter './link' is a symbolic link to "
               "'missing', which is missing");
  PUT("no-name", "#!\n");
  CHECK_STRING(explain_path("./no-name"),
               "./no-name: has a '#!' line without an interpreter");
  PUT("ends-early", "#!");
  CHECK_STRING(explain_path("./ends-early"),
               "./ends-early: has a '#!' line without an interpreter");
  PUT("marked", "\357\273\277#!/bin/sh\n");
  CHECK_STRING(explain_path("./marked"),
               "./marked: has a byte order mark (BOM) before its '#!'");
  PUT("empty", "");
  CHECK_STRING(explain_path("./empty"), "./empty: is empty");
  PUT("binary", "a\0b");
  CHECK_STRING(explain_path("./binary"),
               "./binary: is neither an ELF program nor a script");
  PUT("by-empty", "#!./empty\n");
  CHECK_STRING(explain_path("./by-empty"),
               "./by-empty: its interpreter './empty' is empty");
  PUT("text", "echo hi\n");
  PUT("by-text", "#!./text\n");
  CHECK_STRING(explain_path("./by-text"),
               "./by-text: its interpreter './text' is neither an ELF program "
               "nor a script");
  PUT("by-file", "#!./file/x\n");
  CHECK_STRING(explain_path("./by-file"),
               "./by-file: its interpreter './file/x' is missing");
  PUT("by-loop", "#!./loop\n");
  CHECK_STRING(explain_path("./by-loop"),
               "./by-loop: its interpreter './loop' cannot be reached: too "
               "many levels of symbolic links");

  char long_line[400];
  memset(long_line, 'x', sizeof long_line);
  long_line[0] = '#';
  long_line[1] = '!';
  put_bytes("long", long_line, sizeof long_line, 0755);
  CHECK_STRING(explain_path("./long"),
               "./long: has a '#!' line of more than 255 bytes");
}

static void a_chain_of_scripts_has_an_end(void) {
  /* Five, and then the shell: that is allowed. */
  char name[16], line[32];
  for (int i = 1; i <= 6; i++) {
    snprintf(name, sizeof name, "%d", i);
    snprintf(line, sizeof line, "#!./%d\n", i + 1);
    put_bytes(name, line, strlen(line), 0755);
  }
  PUT("7", "#!/bin/sh\n");
  CHECK_NUMBER(exec_error("./3"), 0);
  CHECK_STRING(explain_path("./2"),
               "./2: more than 5 scripts, each the '#!' interpreter of the one "
               "before");
  PUT("self", "#!./self\n");
  CHECK_STRING(explain_path("./self"),
               "./self: more than 5 scripts, each the '#!' interpreter of the "
               "one before");
  /* Six scripts, but the last interpreter is opened before they are counted. */
  CHECK(unlink("7") == 0);
  CHECK_STRING(explain_path("./1"), "./1: its interpreter './7' is missing");
}

static void a_text_is_the_shells(void) {
  /* /bin/sh is sound here. */
  CHECK_STRING(explain("./text", "./text", NULL, ENOENT),
               "./text: no such file or directory (it is there, but something "
               "that it needs is not)");
  CHECK_NUMBER(explain_exit_code("./text", ENOENT), 126);
}

/* A program, this one, changed at one place. */
static void put_program(const char *path, size_t at, const void *bytes,
                        size_t length, size_t size) {
  static char image[1 << 20];
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ssize_t got = read(fd, image, sizeof image);
  close(fd);
  CHECK(got > 0);
  memcpy(image + at, bytes, length);
  put_bytes(path, image, size && size < (size_t)got ? size : (size_t)got, 0755);
}

static void elf_files(void) {
  struct utsname uts;
  char expected[256];
  uname(&uts);
  put_program("foreign", 18, "\x02\x01", 2, 0); /* loongarch64 */
  snprintf(expected, sizeof expected,
           "./foreign: is built for loongarch64, this machine is %s",
           uts.machine);
  CHECK_STRING(explain_path("./foreign"), expected);
  PUT("by-foreign", "#!./foreign\n");
  snprintf(expected, sizeof expected,
           "./by-foreign: its interpreter './foreign' is built for "
           "loongarch64, this machine is %s",
           uts.machine);
  CHECK_STRING(explain_path("./by-foreign"), expected);
  put_program("object", 16, "\1", 1, 0);
  CHECK_STRING(explain_path("./object"),
               "./object: is an ELF file, but not a program");
  put_program("short", 0, "", 0, 70);
  CHECK_STRING(explain_path("./short"),
               "./short: is a damaged or truncated ELF file");
  /* An unknown architecture: only the errno's words. */
  put_program("unknown", 18, "\xff\xff", 2, 0);
  CHECK_STRING(explain_path("./unknown"), "./unknown: exec format error");
  put_program("magic", 0, "", 0, 4);
  CHECK_STRING(explain_path("./magic"), "./magic: exec format error");
  /* With an emulator registered, but not to be found. */
  snprintf(expected, sizeof expected,
           "./foreign: is built for loongarch64, this machine is %s, and the "
           "emulator for it is missing",
           uts.machine);
  CHECK_STRING(explain("./foreign", "./foreign", NULL, ENOENT), expected);
}

/* A small static-looking file with a loader of our choice. */
static void put_loader(const char *path, const char *loader,
                       unsigned short type, unsigned short machine) {
  struct {
    unsigned char ident[16];
    unsigned short type, machine;
    unsigned version;
    unsigned long entry, phoff, shoff;
    unsigned flags;
    unsigned short ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
    struct {
      unsigned type, flags;
      unsigned long offset, vaddr, paddr, filesz, memsz, align;
    } segment;
    char loader[200];
  } image = {.ident = "\177ELF\2\1\1",
             .type = type,
             .version = 1,
             .phoff = 64,
             .ehsize = 64,
             .phentsize = 56,
             .phnum = 1,
             .segment = {.type = 3, .flags = 4, .offset = 120}};
  struct head head;
  struct elf own;
  close(head_open("/proc/self/exe", &head));
  CHECK(elf_read(&head, &own));
  image.machine = machine ? machine : (unsigned short)own.machine;
  strcpy(image.loader, loader);
  image.segment.filesz = strlen(loader) + 1;
  put_bytes(path, &image, sizeof image, 0755);
}

static void loaders(void) {
  put_loader("glibc", "/lib64/ld-linux-nosuch.so.2", 3, 0);
  CHECK_STRING(explain_path("./glibc"),
               "./glibc: needs the loader /lib64/ld-linux-nosuch.so.2, which "
               "is missing (a glibc program in an image without glibc?)");
  put_loader("musl", "/lib/ld-musl-nosuch.so.1", 3, 0);
  CHECK_STRING(explain_path("./musl"),
               "./musl: needs the loader /lib/ld-musl-nosuch.so.1, which is "
               "missing (a musl program in an image without musl?)");
  put_loader("nix", "/nix/store/x/ld-linux-x86-64.so.2", 3, 0);
  CHECK_STRING(explain_path("./nix"),
               "./nix: needs the loader /nix/store/x/ld-linux-x86-64.so.2, "
               "which is missing");
  put_loader("relative", "ld.so", 3, 0);
  CHECK_STRING(explain_path("./relative"),
               "./relative: needs the loader ld.so, which is missing");
  put_loader("denied", "./plain", 3, 0);
  CHECK_STRING(explain_path("./denied"),
               "./denied: needs the loader ./plain, which has no x bit "
               "(chmod +x)");
  put_loader("bad", "./foreign", 3, 0);
  CHECK_STRING(explain_path("./bad"),
               "./bad: needs the loader ./foreign, which is damaged or for "
               "another architecture");
  put_loader("glibc-object", "/lib64/ld-linux-nosuch.so.2", 1, 0);
  CHECK_STRING(explain_path("./glibc-object"),
               "./glibc-object: is an ELF file, but not a program");
  /* The kernel does not come to the loader. */
  put_loader("foreign-denied", "./plain", 3, 258);
  CHECK_STRING(explain("./foreign-denied", "./foreign-denied", NULL, EACCES),
               "./foreign-denied: permission denied");
  PUT("by-glibc", "#!./glibc\n");
  CHECK_STRING(explain_path("./by-glibc"),
               "./by-glibc: its interpreter './glibc' needs the loader "
               "/lib64/ld-linux-nosuch.so.2, which is missing (a glibc program "
               "in an image without glibc?)");
}

/* What is found must give this very errno, or it was not the reason. */
static void nothing_uncertain_is_claimed(void) {
  static const char *const files[] = {
      "./plain", "./missing-crlf", "./chain", "./foreign", "./short", "./glibc",
      "./empty", "./folder",       "./self",  "./link",    "./a/b"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char expected[64];
    snprintf(expected, sizeof expected, "%s: out of memory", files[i]);
    CHECK_STRING(explain(files[i], files[i], NULL, ENOMEM), expected);
    snprintf(expected, sizeof expected, "%s: operation not permitted",
             files[i]);
    CHECK_STRING(explain(files[i], files[i], NULL, EPERM), expected);
  }
  CHECK_STRING(explain("./plain", "./plain", NULL, ENOEXEC),
               "./plain: exec format error");
  CHECK_STRING(explain("./glibc", "./glibc", NULL, ENOEXEC),
               "./glibc: exec format error");
  CHECK_STRING(explain("./glibc", "./glibc", NULL, EACCES),
               "./glibc: permission denied");
  CHECK_STRING(explain("./empty", "./empty", NULL, ENOENT),
               "./empty: no such file or directory (it is there, but something "
               "that it needs is not)");
  CHECK_STRING(explain("/bin/sh", "/bin/sh", NULL, EACCES),
               "/bin/sh: permission denied");
  CHECK_STRING(explain("/bin/sh", "/bin/sh", NULL, E2BIG),
               "/bin/sh: argument list too long");
  CHECK_STRING(explain("/bin/sh", "/bin/sh", NULL, ETXTBSY),
               "/bin/sh: text file busy: it, or its interpreter, is open for "
               "writing");
  CHECK_STRING(explain("./nowhere", "./nowhere", NULL, EACCES),
               "./nowhere: permission denied");
}

static void long_paths_leave_room_for_the_reason(void) {
  static char path[PATH_MAX + 100];
  for (size_t i = 0; i < 4000; i += 2)
    memcpy(path + i, "d/", 3);
  strcat(path, "x");
  const char *said = explain_path(path);
  CHECK(strncmp(said, "...", 3) == 0);
  CHECK(strstr(said, "/d/x: there is no directory 'd'") != NULL);
  for (size_t i = 0; i < sizeof path - 3; i += 2)
    memcpy(path + i, "d/", 3);
  said = explain_path(path);
  CHECK(strstr(said, "/d/: file name too long") != NULL);
  CHECK_NUMBER(explain_exit_code(path, ENAMETOOLONG), 126);
}

static void exit_codes(void) {
  CHECK_NUMBER(explain_exit_code(NULL, ENOENT), 127);
  CHECK_NUMBER(explain_exit_code("./nowhere", ENOENT), 127);
  CHECK_NUMBER(explain_exit_code("./file/x", ENOTDIR), 127);
  CHECK_NUMBER(explain_exit_code("./link", ENOENT), 127);
  CHECK_NUMBER(explain_exit_code("./chain", ENOENT), 126);
  CHECK_NUMBER(explain_exit_code("./by-file", ENOTDIR), 126);
  CHECK_NUMBER(explain_exit_code("./plain", EACCES), 126);
  CHECK_NUMBER(explain_exit_code("./loop", ELOOP), 126);
  CHECK_NUMBER(explain_exit_code(NULL, EACCES), 126);
}

static const char *env(const char *script, const char *search) {
  static char path[PATH_MAX];
  struct line line = LINE(text);
  put_bytes("env", script, strlen(script), 0755);
  CHECK(realpath("env", path) != NULL);
  text[0] = '\0';
  bool said = explain_env(&line, path, search);
  CHECK(said == (text[0] != '\0'));
  /* Without the folder, so that it can be compared. */
  return said && strncmp(text, path, strlen(path)) == 0 ? text + strlen(path)
                                                        : text;
}

static void what_env_looks_for(void) {
  CHECK_STRING(env("#!/usr/bin/env nosuch\n", "/bin:/usr/bin"),
               ": its interpreter 'nosuch' is not found in PATH "
               "'/bin:/usr/bin'");
  CHECK_STRING(env("#!/usr/bin/env sh\r\n", "/bin"),
               ": '#!/usr/bin/env sh\\r': the script has CRLF line ends");
  CHECK_STRING(env("#!/usr/bin/env sh -e\n", "/bin"),
               ": its interpreter 'sh -e' is not found in PATH '/bin' "
               "(env takes it as one word; env -S splits)");
  CHECK_STRING(env("#!/usr/bin/env -S nosuch -e\r\n", "/bin"),
               ": its interpreter 'nosuch' is not found in PATH '/bin'");
  CHECK_STRING(env("#!/bin/env -Snosuch\n", "/bin"),
               ": its interpreter 'nosuch' is not found in PATH '/bin'");
  /* It is there, so the program ran and ended with 127 itself. */
  CHECK_STRING(env("#!/usr/bin/env sh\n", "/nowhere:/bin"), "");
  CHECK_STRING(env("#!/usr/bin/env -S sh -e\n", "/bin"), "");
  /* Where that directory was is not known any more. */
  CHECK_STRING(env("#!/usr/bin/env nosuch\n", "/bin:"), "");
  CHECK_STRING(env("#!/usr/bin/env nosuch\n", ":/bin"), "");
  CHECK_STRING(env("#!/usr/bin/env nosuch\n", "/bin:."), "");
  CHECK_STRING(env("#!/usr/bin/env nosuch\n", ""), "");
  /* Too much to follow. */
  CHECK_STRING(env("#!/usr/bin/env -i nosuch\n", "/bin"), "");
  CHECK_STRING(env("#!/usr/bin/env PATH=/x nosuch\n", "/bin"), "");
  CHECK_STRING(env("#!/usr/bin/env -S \"nosuch\"\n", "/bin"), "");
  CHECK_STRING(env("#!/usr/bin/env -S -i nosuch\n", "/bin"), "");
  CHECK_STRING(env("#!/usr/bin/env -S\n", "/bin"), "");
  CHECK_STRING(env("#!/usr/bin/env\n", "/bin"), "");
  CHECK_STRING(env("#!/bin/sh nosuch\n", "/bin"), "");
  CHECK_STRING(env("echo\n", "/bin"), "");
  struct line line = LINE(text);
  put_bytes("env", "#!/bin/env nosuch\n", 18, 0755);
  CHECK(!explain_env(&line, "./env", "/bin"));
  CHECK(!explain_env(&line, "/nowhere", "/bin"));
}

static void shell_scripts(void) {
  CHECK(is_shell_script("./text"));
  CHECK(!is_shell_script("./empty"));
  CHECK(!is_shell_script("./folder"));
  CHECK(!is_shell_script("./fifo"));
  CHECK(!is_shell_script("./chain"));
  CHECK(!is_shell_script("./foreign"));
  CHECK(!is_shell_script("./nowhere"));
  CHECK(!is_shell_script("./marked"));
}

/* Nothing may be left open, whatever was looked at. */
static int next_descriptor(void) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(fd);
  return fd;
}

int main(int argc, char **argv) {
  if (argc > 1)
    return try_exec(argv[1]);
  char folder[] = "/tmp/foster-explain-XXXXXX", command[64];
  CHECK(realpath(argv[0], self) != NULL);
  if (!mkdtemp(folder) || chdir(folder) < 0) {
    perror(folder);
    return 1;
  }
  const int before = next_descriptor();
  files_that_are_not_there();
  names_are_told_apart_from_paths();
  files_that_may_not_be_run();
  scripts();
  a_chain_of_scripts_has_an_end();
  a_text_is_the_shells();
  elf_files();
  loaders();
  nothing_uncertain_is_claimed();
  long_paths_leave_room_for_the_reason();
  exit_codes();
  what_env_looks_for();
  shell_scripts();
  CHECK_NUMBER(next_descriptor(), before);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) != 0 || unit_result();
}
