#include "explain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "calls.h"
#include "scan.h"

/* Every explanation is a prediction: a function that finds something wrong
 * with a file appends the words for it and returns the errno that execve(2)
 * gives for that, or 0 if it finds nothing. If execve gave another, the words
 * are taken back: something was overlooked, and no guess is better. */

/* statfs(2); the libcs hide it behind statvfs. */
enum { MOUNTED_NOEXEC = 8 };

/* A script may name a script as its interpreter, but no more than this. */
enum { SCRIPTS_MAX = 5 };

#define DEFAULT_SHELL "/bin/sh"
#define BLANKS " \t"

static void take_back(struct line *line, size_t length) {
  line->length = length;
  line->text[length] = '\0';
  line->truncated = 0;
}

/* The end of a long path says more than its beginning, and must leave room for
 * the reason: the rest of it is lost. */
static const char *shortened(char *path) {
  size_t length = length_of(path);
  if (length > HEAD_SIZE + 3) {
    path += length - HEAD_SIZE - 3;
    path[0] = path[1] = path[2] = '.';
  }
  return path;
}

/* Cut off the carriage return at the end of a line of Windows. */
static bool cut_return(char *text) {
  size_t length = length_of(text);
  if (length == 0 || text[length - 1] != '\r')
    return false;
  text[length - 1] = '\0';
  return true;
}

/* A file that is there: may it be executed? The words fit after its name. */
static int judge_permission(struct line *line, const char *path,
                            unsigned mode) {
  struct statfs fs;
  if (S_ISDIR(mode))
    line_format(line, "is a directory");
  else if (!S_ISREG(mode))
    line_format(line, "is not a regular file");
  else if (!(mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
    line_format(line, "has no x bit (chmod +x)");
  else if (statfs(path, &fs) == 0 && (fs.f_flags & MOUNTED_NOEXEC))
    line_format(line, "is on a file system that is mounted noexec");
  else if (access(path, X_OK) < 0 && errno == EACCES)
    line_format(line, "may not be executed by user %u", (unsigned)geteuid());
  else
    return 0;
  return EACCES;
}

static bool add_link(struct line *line, const char *path) {
  char target[PATH_MAX];
  if (!call_readlink(AT_FDCWD, path, target, sizeof target))
    return false;
  line_format(line, "is a symbolic link to '%s', which is missing",
              shortened(target));
  return true;
}

/* An interpreter or a loader. */
static int judge_needed(struct line *line, const char *path) {
  struct file_facts facts;
  if (call_stat(AT_FDCWD, path, &facts) == 0)
    return judge_permission(line, path, facts.mode);
  int error = errno;
  if (error == ENOENT && add_link(line, path))
    return error;
  if (error == ENOENT || error == ENOTDIR)
    line_format(line, "is missing");
  else
    line_format(line, "cannot be reached: %s", error_words(error));
  return error;
}

/* The program itself: which part of its path is it that fails? */
static int judge_program(struct line *line, const char *path) {
  struct file_facts facts;
  if (call_stat(AT_FDCWD, path, &facts) == 0)
    return judge_permission(line, path, facts.mode);

  const int error = errno;
  char part[PATH_MAX];
  size_t length = length_of(path), good = 0;
  if (length < sizeof part) {
    memcpy(part, path, length + 1);
    for (size_t i = 1; i < length; i++)
      if (path[i] == '/') {
        part[i] = '\0';
        if (call_stat(AT_FDCWD, part, &facts) < 0)
          break;
        good = i;
        part[i] = '/';
      }
    if (error == ENOENT && length_of(part) < length) {
      line_format(line, "there is no directory '%s'", shortened(part));
      return error;
    }
    part[good] = '\0';
  }
  if (error == ENOENT && add_link(line, path))
    return error;
  line_format(line, "%s", error_words(error));
  if (good > 0 && error == EACCES)
    line_format(line, ": the directory '%s' is closed to user %u",
                shortened(part), (unsigned)geteuid());
  else if (good > 0 && error == ENOTDIR)
    line_format(line, ": '%s'", shortened(part));
  else if (error == ENOENT && *path != '/' &&
           syscall(SYS_getcwd, part, sizeof part) > 0)
    line_format(line, " (in '%s')", shortened(part));
  return error;
}

static int judge_loader(struct line *line, const char *loader, int error) {
  line_format(line, "needs the loader %s, which ", loader);
  if (error == ELIBBAD) {
    line_format(line, "is damaged or for another architecture");
    return error;
  }
  int found = judge_needed(line, loader);
  if (found == ENOENT && after(loader, "/lib")) {
    const char *name = last(loader, '/') + 1;
    const char *libc = after(name, "ld-linux")   ? "glibc"
                       : after(name, "ld-musl-") ? "musl"
                                                 : NULL;
    if (libc)
      line_format(line, " (a %s program in an image without %s?)", libc, libc);
  }
  return found;
}

/* load_elf_binary() in fs/binfmt_elf.c. The kernel looks at the architecture
 * first. An emulator may stand in for a foreign one (binfmt_misc): then the
 * error may be the emulator's, and the loader is not the kernel's to open. */
static int judge_elf(struct line *line, int fd, const struct elf *elf,
                     int error) {
  enum { EXECUTABLE = 2, SHARED = 3 };
  struct utsname uts;
  char loader[HEAD_SIZE];

  if (uname(&uts) < 0)
    return 0;
  bool foreign = elf_foreign(elf, uts.machine);
  if (foreign && (error == ENOEXEC || (error == ENOENT && elf->wide))) {
    line_format(line, "is built for %s, this machine is %s", elf_machine(elf),
                uts.machine);
    if (error == ENOENT)
      line_format(line, ", and the emulator for it is missing");
    return error;
  }
  if (foreign && elf->wide)
    return 0;
  bool whole = elf_loader(fd, elf, loader);
  if (whole && loader[0] != '\0' && error != ENOEXEC)
    return judge_loader(line, loader, error);
  if (!elf_machine(elf))
    return 0;
  if (elf->type != EXECUTABLE && elf->type != SHARED)
    line_format(line, "is an ELF file, but not a program");
  else if (!whole)
    line_format(line, "is a damaged or truncated ELF file");
  else
    return 0;
  return ENOEXEC;
}

/* What is in a file that may be executed. Returns the errno as above; or 0, and
 * if it is a script `interpreter` is what runs it: the next file to look at,
 * which the words after `subject` are about from now on. `path` may be what was
 * in `interpreter` before. */
static int judge_content(struct line *line, size_t subject, const char *path,
                         int error, char interpreter[HEAD_SIZE]) {
  const bool program = line->length == subject;
  struct head head;
  struct elf elf;
  struct file_facts facts;
  char argument[HEAD_SIZE];

  int fd = head_open(path, &head);
  interpreter[0] = '\0';
  if (fd < 0)
    return 0;
  int found = elf_read(&head, &elf) ? judge_elf(line, fd, &elf, error) : 0;
  close(fd);
  if (head_begins(&head, HEAD_ELF))
    return found;

  switch (script_read(&head, interpreter, argument)) {
  case SCRIPT_FOUND:
    if (call_stat(AT_FDCWD, interpreter, &facts) < 0 &&
        cut_return(interpreter)) {
      line_format(line, "'#!%s\\r': the script has CRLF line ends",
                  interpreter);
      return ENOENT;
    }
    take_back(line, subject);
    line_format(line, "its interpreter '%s' ", interpreter);
    return 0;
  case SCRIPT_NO_NAME:
    line_format(line, "has a '#!' line without an interpreter");
    return error; /* ENOEXEC, and others where the file ends right there */
  case SCRIPT_LONG:
    line_format(line, "has a '#!' line of more than %d bytes", HEAD_SIZE - 1);
    return ENOEXEC;
  case SCRIPT_NONE:
    break;
  }
  if (program && looks_like_text(&head)) {
    memcpy(interpreter, DEFAULT_SHELL, sizeof DEFAULT_SHELL);
    line_format(line, "has no '#!' line, and " DEFAULT_SHELL " ");
    return 0;
  }
  if (head.length == 0)
    line_format(line, "is empty");
  else if (head_begins(&head, HEAD_MARKED_SCRIPT))
    line_format(line, "has a byte order mark (BOM) before its '#!'");
  else
    line_format(line, "is neither an ELF program nor a script");
  return ENOEXEC;
}

/* As execve(2) goes from file to file. */
static int judge(struct line *line, const char *path, int error) {
  const size_t subject = line->length;
  char interpreter[HEAD_SIZE];
  int found = judge_program(line, path);

  for (int scripts = 0; found == 0; scripts++) {
    if (scripts > SCRIPTS_MAX) {
      take_back(line, subject);
      line_format(line,
                  "more than %d scripts, each the '#!' interpreter of "
                  "the one before",
                  SCRIPTS_MAX);
      return ELOOP;
    }
    found = judge_content(line, subject, path, error, interpreter);
    if (found != 0 || interpreter[0] == '\0')
      return found;
    path = interpreter;
    found = judge_needed(line, path);
  }
  return found;
}

/* ---- What others call. */

int explain_exit_code(const char *path, int error) {
  struct file_facts facts;
  if (error != ENOENT && error != ENOTDIR)
    return 126;
  return path && call_stat(AT_FDCWD, path, &facts) == 0 ? 126 : 127;
}

void explain_exec(struct line *line, const char *name, const char *path,
                  const char *search, int error) {
  if (*name == '\0') {
    line_format(line, "the program's name is empty");
    return;
  }
  if (!search)
    path = name;
  if (!path) {
    line_format(line, "%s: not found in PATH '%s'", name, search);
  } else {
    const size_t length = length_of(path);
    const bool whole = length <= HEAD_SIZE;
    line_format(line, whole ? "%s: " : "...%s: ",
                whole ? path : path + length - HEAD_SIZE);
    const size_t reason = line->length;
    if (judge(line, path, error) != error) {
      take_back(line, reason);
      line_format(line, "%s", error_words(error));
      if (error == ETXTBSY)
        line_format(line, ": it, or its interpreter, is open for writing");
      else if (error == ENOENT && explain_exit_code(path, error) == 126)
        line_format(line, " (it is there, but something that it needs is not)");
    }
  }
  if (last(name, ' ') && explain_exit_code(path, error) == 127)
    line_format(line, " (the blank is part of the name: meant as two words?)");
}

/* env(1) itself is found and runs, and then says in its own way that it cannot
 * find X. Options and assignments change what it looks for, and where. */
bool explain_env(struct line *line, const char *path, const char *search) {
  struct head head;
  struct file_facts facts;
  char interpreter[HEAD_SIZE], argument[HEAD_SIZE], tried[PATH_MAX];

  /* By now init has left the directory that a relative path is for. */
  int fd = search && *path == '/' ? head_open(path, &head) : -1;
  if (fd < 0)
    return false;
  close(fd);
  if (script_read(&head, interpreter, argument) != SCRIPT_FOUND)
    return false;
  const char *slash = last(interpreter, '/');
  if (!same(slash ? slash + 1 : interpreter, "env"))
    return false;

  char *name = argument;
  if (after(name, "-S")) {
    name += 2;
    name += span(name, BLANKS);
    name[until(name, BLANKS)] = '\0';
  }
  if (*name == '\0' || *name == '-' || name[until(name, "='\"\\$/")] != '\0')
    return false;
  for (const char *at = search; path_next(&at, name, tried);)
    if (*tried != '/' || call_stat(AT_FDCWD, tried, &facts) == 0)
      return false;

  if (cut_return(name)) {
    line_format(line, "%s: '#!%s %s\\r': the script has CRLF line ends", path,
                interpreter, argument);
    return true;
  }
  line_format(line, "%s: its interpreter '%s' is not found in PATH '%s'", path,
              name, search);
  if (last(name, ' '))
    line_format(line, " (env takes it as one word; env -S splits)");
  return true;
}
