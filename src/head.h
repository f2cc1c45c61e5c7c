/* What a file is, told by its first bytes as the kernel tells it at an exec.
 * Readers of bytes that anybody may have written: nothing in them is trusted.
 */
#ifndef FOSTER_HEAD_H
#define FOSTER_HEAD_H

#include <stdbool.h>
#include <stddef.h>

/* The kernel looks at no more (BINPRM_BUF_SIZE) to tell what a file is. */
enum { HEAD_SIZE = 256 };

/* A file's first bytes, zeros after its end, as the kernel has them. */
struct head {
  size_t length; /* bytes that are the file's */
  unsigned char bytes[HEAD_SIZE];
};

/* Open a file and read its head. Returns a descriptor, or -1. */
int head_open(const char *path, struct head *head);

#define HEAD_ELF "\177ELF"
#define HEAD_SCRIPT "#!"
/* Some editors put a byte order mark first: the kernel does not see the "#!".
 */
#define HEAD_MARKED_SCRIPT "\357\273\277#!"

bool head_begins(const struct head *head, const char *bytes);

/* A text that /bin/sh may run after ENOEXEC: not empty, no NUL byte in these
 * first bytes, neither ELF nor with a "#!" of its own. */
bool looks_like_text(const struct head *head);

/* The same for a file. Only system calls and the stack, for a vfork child. */
bool is_shell_script(const char *path);

enum script {
  SCRIPT_NONE,    /* no "#!" */
  SCRIPT_FOUND,   /* `interpreter` has it */
  SCRIPT_NO_NAME, /* the line is blank */
  SCRIPT_LONG,    /* the name does not end in these bytes */
};

/* The "#!" line, read as the kernel does. argument: all the rest of the line,
 * blanks at both ends removed; empty if there is none. */
enum script script_read(const struct head *head, char interpreter[HEAD_SIZE],
                        char argument[HEAD_SIZE]);

/* What matters of an ELF header. */
struct elf {
  bool wide; /* ELFCLASS64 */
  bool big;  /* ELFDATA2MSB */
  unsigned type;
  unsigned machine;
  unsigned long long segments; /* where the program headers are in the file */
  unsigned segment_size;
  unsigned segment_count;
};

/* Returns false if that is no ELF file of either class and byte order. */
bool elf_read(const struct head *head, struct elf *elf);

/* The architecture as uname(2) calls it, or NULL for one not known here. */
const char *elf_machine(const struct elf *elf);

/* Read the path of the loader (PT_INTERP) from the file itself. Empty if there
 * is none, or if it is too long to be one. Returns false where the file
 * contradicts itself, which the kernel answers with ENOEXEC. */
bool elf_loader(int fd, const struct elf *elf, char loader[HEAD_SIZE]);

/* Does a machine that uname(2) calls so certainly have another architecture?
 * One that may run such programs as well (i386 on x86_64) has. */
bool elf_foreign(const struct elf *elf, const char *uname_machine);

#endif
