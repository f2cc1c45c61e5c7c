#include "head.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "calls.h"
#include "scan.h"

int head_open(const char *path, struct head *head) {
  int fd = call_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return -1;
  *head = (struct head){0};
  ssize_t length = pread(fd, head->bytes, HEAD_SIZE, 0);
  if (length < 0) {
    close(fd);
    return -1;
  }
  head->length = (size_t)length;
  return fd;
}

bool is_shell_script(const char *path) {
  struct head head;
  int fd = head_open(path, &head);
  if (fd < 0)
    return false;
  close(fd);
  return looks_like_text(&head);
}

static bool is_blank(unsigned char byte) { return byte == ' ' || byte == '\t'; }

bool head_begins(const struct head *head, const char *bytes) {
  return after((const char *)head->bytes, bytes) != NULL;
}

bool looks_like_text(const struct head *head) {
  return head->length > 0 &&
         !find((const char *)head->bytes, head->length, '\0') &&
         !head_begins(head, HEAD_ELF) && !head_begins(head, HEAD_SCRIPT) &&
         !head_begins(head, HEAD_MARKED_SCRIPT);
}

/* load_script() in fs/binfmt_script.c. */
enum script script_read(const struct head *head, char interpreter[HEAD_SIZE],
                        char argument[HEAD_SIZE]) {
  const unsigned char *bytes = head->bytes;
  size_t at = 2, length = 0;

  if (!head_begins(head, HEAD_SCRIPT))
    return SCRIPT_NONE;
  while (at < HEAD_SIZE && is_blank(bytes[at]))
    at++;
  while (at < HEAD_SIZE && !is_blank(bytes[at]) && bytes[at] != '\n' &&
         bytes[at] != '\0')
    interpreter[length++] = (char)bytes[at++];
  interpreter[length] = '\0';
  if (at == HEAD_SIZE)
    return SCRIPT_LONG;
  if (length == 0)
    return SCRIPT_NO_NAME;

  while (at < HEAD_SIZE && is_blank(bytes[at]))
    at++;
  length = 0;
  while (at < HEAD_SIZE && bytes[at] != '\n' && bytes[at] != '\0')
    argument[length++] = (char)bytes[at++];
  while (length > 0 && is_blank((unsigned char)argument[length - 1]))
    length--;
  argument[length] = '\0';
  return SCRIPT_FOUND;
}

static unsigned long long number(const unsigned char *bytes, size_t size,
                                 bool big) {
  unsigned long long value = 0;
  for (size_t i = 0; i < size; i++)
    value = value << 8 | bytes[big ? i : size - 1 - i];
  return value;
}

/* elf(5). The two classes differ in the size of an address. */
bool elf_read(const struct head *head, struct elf *elf) {
  const unsigned char *bytes = head->bytes;
  if (!head_begins(head, HEAD_ELF) || bytes[4] - 1U > 1 || bytes[5] - 1U > 1)
    return false;
  const bool wide = bytes[4] == 2, big = bytes[5] == 2;
  elf->wide = wide;
  elf->big = big;
  elf->type = (unsigned)number(bytes + 16, 2, big);
  elf->machine = (unsigned)number(bytes + 18, 2, big);
  elf->segments = number(bytes + (wide ? 32 : 28), wide ? 8 : 4, big);
  elf->segment_size = (unsigned)number(bytes + (wide ? 54 : 42), 2, big);
  elf->segment_count = (unsigned)number(bytes + (wide ? 56 : 44), 2, big);
  return true;
}

const char *elf_machine(const struct elf *elf) {
  enum { NARROW = 1, WIDE = 2, LITTLE = 4, BIG = 8, EITHER = LITTLE | BIG };
  const unsigned size = elf->wide ? WIDE : NARROW;
  const unsigned order = elf->big ? BIG : LITTLE;
  static const struct {
    unsigned short machine;
    unsigned char kind;
    char name[13];
  } machines[] = {
      {62, WIDE | LITTLE, "x86_64"},   {3, NARROW | LITTLE, "i386"},
      {183, WIDE | EITHER, "aarch64"}, {40, NARROW | EITHER, "arm"},
      {243, WIDE | LITTLE, "riscv64"}, {243, NARROW | LITTLE, "riscv32"},
      {22, WIDE | BIG, "s390x"},       {22, NARROW | BIG, "s390"},
      {21, WIDE | LITTLE, "ppc64le"},  {21, WIDE | BIG, "ppc64"},
      {20, NARROW | BIG, "ppc"},       {258, WIDE | LITTLE, "loongarch64"},
      {8, WIDE | EITHER, "mips64"},    {8, NARROW | EITHER, "mips"},
      {43, WIDE | BIG, "sparc64"},     {2, NARROW | BIG, "sparc"},
  };
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].machine == elf->machine && (machines[i].kind & size) &&
        (machines[i].kind & order))
      return machines[i].name;
  return NULL;
}

/* uname says i686 for i386, armv7l for arm. */
bool elf_foreign(const struct elf *elf, const char *uname_machine) {
  const char *name = elf_machine(elf);
  if (!name)
    return false;
  if (elf->wide)
    return !same(name, uname_machine);
  if (elf->machine == 3)
    return uname_machine[0] != 'i';
  return !after(uname_machine, name);
}

bool elf_loader(int fd, const struct elf *elf, char loader[HEAD_SIZE]) {
  const size_t size = elf->wide ? 56 : 32, word = elf->wide ? 8 : 4;
  loader[0] = '\0';
  if (elf->segment_size != size || elf->segment_count == 0 ||
      elf->segment_count * size > 65536)
    return false;
  for (unsigned i = 0; i < elf->segment_count; i++) {
    unsigned char segment[56];
    unsigned long long at = elf->segments + i * size;
    if (pread(fd, segment, size, (off_t)at) != (ssize_t)size)
      return false;
    if (number(segment, 4, elf->big) != 3 || loader[0] != '\0')
      continue;
    at = number(segment + (elf->wide ? 8 : 4), word, elf->big);
    unsigned long long length =
        number(segment + (elf->wide ? 32 : 16), word, elf->big);
    if (length < 2 || length > PATH_MAX)
      return false;
    if (length > HEAD_SIZE ||
        pread(fd, loader, (size_t)length, (off_t)at) != (ssize_t)length) {
      loader[0] = '\0';
      continue;
    }
    if (loader[length - 1] != '\0')
      return false;
  }
  return true;
}
