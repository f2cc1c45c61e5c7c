/* What a file is, by its first bytes. */
#include "head.h"

#include <elf.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static struct head head_of(const void *bytes, size_t length) {
  struct head head = {.length = length < HEAD_SIZE ? length : HEAD_SIZE};
  memcpy(head.bytes, bytes, head.length);
  return head;
}

#define HEAD(literal) head_of((literal), sizeof(literal) - 1)

/* ---- Texts ---- */

static void a_text_is_told_by_its_first_bytes(void) {
  const struct {
    struct head head;
    bool text;
  } cases[] = {
      {HEAD("echo hi\n"), true},
      {HEAD("# no interpreter\n"), true},
      {HEAD("caf\303\251\n"), true},
      {HEAD("\357\273\277echo hi\n"), true},
      {HEAD("x"), true},
      {HEAD(""), false},
      {HEAD("\0"), false},
      {HEAD("echo\0hi\n"), false},
      {HEAD("e\0c\0h\0o\0"), false},
      {HEAD("#!/bin/sh\n"), false},
      {HEAD("#!"), false},
      {HEAD("\357\273\277#!/bin/sh\n"), false},
      {HEAD("\177ELF"), false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (looks_like_text(&cases[i].head) != cases[i].text)
      unit_fail(__FILE__, (int)i, "case of looks_like_text");
  struct head full = {.length = HEAD_SIZE};
  memset(full.bytes, 'x', HEAD_SIZE);
  CHECK(looks_like_text(&full));
  full.bytes[HEAD_SIZE - 1] = '\0';
  CHECK(!looks_like_text(&full));
}

/* ---- Scripts ---- */

static enum script read_script(struct head head, const char *name,
                               const char *rest) {
  char interpreter[HEAD_SIZE], argument[HEAD_SIZE];
  enum script script = script_read(&head, interpreter, argument);
  if (script == SCRIPT_FOUND) {
    CHECK_STRING(interpreter, name);
    CHECK_STRING(argument, rest);
  }
  return script;
}

static void the_interpreter_line_is_read_as_the_kernel_does(void) {
  const struct {
    struct head head;
    enum script script;
    const char *interpreter, *argument;
  } cases[] = {
      {HEAD("#!/bin/sh\n"), SCRIPT_FOUND, "/bin/sh", ""},
      {HEAD("#!/bin/sh"), SCRIPT_FOUND, "/bin/sh", ""},
      {HEAD("#! \t/bin/sh \t\nexit"), SCRIPT_FOUND, "/bin/sh", ""},
      {HEAD("#!/bin/sh\r\n"), SCRIPT_FOUND, "/bin/sh\r", ""},
      {HEAD("#!/bin/sh -e\n"), SCRIPT_FOUND, "/bin/sh", "-e"},
      {HEAD("#!/bin/sh \t -e  -u \t\n"), SCRIPT_FOUND, "/bin/sh", "-e  -u"},
      {HEAD("#!/bin/sh\0junk\n"), SCRIPT_FOUND, "/bin/sh", ""},
      {HEAD("#!/bin/sh -e\0-u\n"), SCRIPT_FOUND, "/bin/sh", "-e"},
      {HEAD("#!sh\n"), SCRIPT_FOUND, "sh", ""},
      {HEAD("#!\n/bin/sh\n"), SCRIPT_NO_NAME, "", ""},
      {HEAD("#! \t \n"), SCRIPT_NO_NAME, "", ""},
      {HEAD("#!"), SCRIPT_NO_NAME, "", ""},
      {HEAD("#!\0/bin/sh\n"), SCRIPT_NO_NAME, "", ""},
      {HEAD("#"), SCRIPT_NONE, "", ""},
      {HEAD(""), SCRIPT_NONE, "", ""},
      {HEAD(" #!/bin/sh\n"), SCRIPT_NONE, "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    CHECK_NUMBER(
        read_script(cases[i].head, cases[i].interpreter, cases[i].argument),
        cases[i].script);
}

/* The name has to end in the 256 bytes that the kernel reads; what comes after
 * it may be cut off. */
static void a_long_interpreter_line_is_cut_as_by_the_kernel(void) {
  char name[HEAD_SIZE], interpreter[HEAD_SIZE], argument[HEAD_SIZE];
  struct head head = {.length = HEAD_SIZE};

  memset(head.bytes, 'x', HEAD_SIZE);
  head.bytes[0] = '#';
  head.bytes[1] = '!';
  CHECK_NUMBER(script_read(&head, interpreter, argument), SCRIPT_LONG);
  memset(name, 'x', HEAD_SIZE);
  name[HEAD_SIZE - 3] = '\0';
  head.bytes[HEAD_SIZE - 1] = '\n';
  CHECK_NUMBER(read_script(head, name, ""), SCRIPT_FOUND);
  head.bytes[HEAD_SIZE - 1] = ' ';
  CHECK_NUMBER(read_script(head, name, ""), SCRIPT_FOUND);
  head.bytes[HEAD_SIZE - 1] = 'x';
  head.bytes[2] = ' ';
  CHECK_NUMBER(script_read(&head, interpreter, argument), SCRIPT_LONG);
  head.bytes[3] = ' ';
  head.bytes[5] = ' ';
  name[HEAD_SIZE - 6] = '\0';
  CHECK_NUMBER(read_script(head, "x", name), SCRIPT_FOUND);
  memset(head.bytes + 2, ' ', HEAD_SIZE - 2);
  CHECK_NUMBER(script_read(&head, interpreter, argument), SCRIPT_LONG);
}

/* ---- ELF ---- */

static void put(unsigned char *at, size_t size, bool big, uint64_t value) {
  for (size_t i = 0; i < size; i++)
    at[big ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

/* A header as elf(5) has it, built apart from the reader. */
static struct head elf_head(bool wide, bool big, unsigned machine) {
  struct head head = {.length = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)};
  unsigned char *bytes = head.bytes;
  bytes[EI_MAG0] = ELFMAG0;
  bytes[EI_MAG1] = ELFMAG1;
  bytes[EI_MAG2] = ELFMAG2;
  bytes[EI_MAG3] = ELFMAG3;
  bytes[EI_CLASS] = wide ? ELFCLASS64 : ELFCLASS32;
  bytes[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
  bytes[EI_VERSION] = EV_CURRENT;
#define PUT(field, value)                                                      \
  put(bytes +                                                                  \
          (wide ? offsetof(Elf64_Ehdr, field) : offsetof(Elf32_Ehdr, field)),  \
      wide ? sizeof((Elf64_Ehdr *)0)->field : sizeof((Elf32_Ehdr *)0)->field,  \
      big, (value))
  PUT(e_type, ET_DYN);
  PUT(e_machine, machine);
  PUT(e_phoff, 0x40);
  PUT(e_phentsize, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
  PUT(e_phnum, 3);
#undef PUT
  return head;
}

static const char *machine_of(bool wide, bool big, unsigned machine) {
  struct head head = elf_head(wide, big, machine);
  struct elf elf;
  CHECK(elf_read(&head, &elf));
  CHECK(elf.wide == wide);
  CHECK(elf.big == big);
  CHECK_NUMBER(elf.type, ET_DYN);
  CHECK_NUMBER(elf.machine, machine);
  CHECK_NUMBER(elf.segments, 0x40);
  CHECK_NUMBER(elf.segment_size,
               wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
  CHECK_NUMBER(elf.segment_count, 3);
  const char *name = elf_machine(&elf);
  return name ? name : "";
}

static void architectures_have_their_names(void) {
  CHECK_STRING(machine_of(true, false, EM_X86_64), "x86_64");
  CHECK_STRING(machine_of(false, false, EM_386), "i386");
  CHECK_STRING(machine_of(true, false, EM_AARCH64), "aarch64");
  CHECK_STRING(machine_of(false, false, EM_ARM), "arm");
  CHECK_STRING(machine_of(false, true, EM_ARM), "arm");
  CHECK_STRING(machine_of(true, false, 243), "riscv64");
  CHECK_STRING(machine_of(false, false, 243), "riscv32");
  CHECK_STRING(machine_of(true, true, EM_S390), "s390x");
  CHECK_STRING(machine_of(false, true, EM_S390), "s390");
  CHECK_STRING(machine_of(true, false, EM_PPC64), "ppc64le");
  CHECK_STRING(machine_of(true, true, EM_PPC64), "ppc64");
  CHECK_STRING(machine_of(false, true, EM_PPC), "ppc");
  CHECK_STRING(machine_of(true, false, 258), "loongarch64");
  CHECK_STRING(machine_of(true, true, EM_MIPS), "mips64");
  CHECK_STRING(machine_of(false, false, EM_MIPS), "mips");
  CHECK_STRING(machine_of(true, true, EM_SPARCV9), "sparc64");
  CHECK_STRING(machine_of(false, true, EM_SPARC), "sparc");
  /* x32 has no name of its own, and no class means nothing. */
  CHECK_STRING(machine_of(false, false, EM_X86_64), "");
  CHECK_STRING(machine_of(true, true, EM_X86_64), "");
  CHECK_STRING(machine_of(true, false, 0xffff), "");
}

static bool foreign(bool wide, bool big, unsigned machine, const char *here) {
  struct head head = elf_head(wide, big, machine);
  struct elf elf;
  CHECK(elf_read(&head, &elf));
  return elf_foreign(&elf, here);
}

static void foreign_is_only_what_certainly_is(void) {
  CHECK(!foreign(true, false, EM_X86_64, "x86_64"));
  CHECK(foreign(true, false, EM_AARCH64, "x86_64"));
  CHECK(foreign(true, false, EM_X86_64, "aarch64"));
  CHECK(foreign(false, false, EM_386, "x86_64"));
  CHECK(!foreign(false, false, EM_386, "i686"));
  CHECK(foreign(false, false, EM_ARM, "aarch64"));
  CHECK(!foreign(false, false, EM_ARM, "armv7l"));
  CHECK(!foreign(false, false, EM_ARM, "armv8l"));
  CHECK(foreign(true, true, EM_PPC64, "ppc64le"));
  CHECK(foreign(true, false, EM_PPC64, "ppc64"));
  CHECK(!foreign(false, true, EM_S390, "s390x"));
  CHECK(foreign(false, false, 243, "riscv64"));
  CHECK(!foreign(true, false, 0xffff, "x86_64"));
  CHECK(!foreign(false, false, EM_X86_64, "x86_64"));
}

static void what_is_no_elf_header_is_none(void) {
  struct head head = elf_head(true, false, EM_X86_64);
  struct elf elf;

  head.bytes[EI_CLASS] = 3;
  CHECK(!elf_read(&head, &elf));
  head.bytes[EI_CLASS] = 0;
  CHECK(!elf_read(&head, &elf));
  head = elf_head(true, false, EM_X86_64);
  head.bytes[EI_DATA] = 0;
  CHECK(!elf_read(&head, &elf));
  head = elf_head(true, false, EM_X86_64);
  head.bytes[0] = 0;
  CHECK(!elf_read(&head, &elf));
  head = HEAD("\177EL");
  CHECK(!elf_read(&head, &elf));
  /* Cut off: the rest counts as zeros, as in the kernel. */
  head = HEAD("\177ELF\2\1\1");
  CHECK(elf_read(&head, &elf));
  CHECK_NUMBER(elf.segment_count, 0);
}

/* A file with three program headers at 64, the second of them the loader's,
 * whose name is at 300. */
struct image {
  bool wide, big;
  uint64_t at, length; /* where the loader's name is said to be */
  unsigned phentsize, phnum;
  uint64_t phoff;
  size_t size;    /* of the file */
  unsigned third; /* the type of the third header */
};

#define LOADER "/lib/ld.so"
static const struct image sound = {.wide = true,
                                   .at = 300,
                                   .length = sizeof LOADER,
                                   .phentsize = sizeof(Elf64_Phdr),
                                   .phnum = 3,
                                   .phoff = 64,
                                   .size = 400,
                                   .third = PT_LOAD};

/* Returns what elf_loader() does. */
static bool loader_of(const struct image *image, char loader[HEAD_SIZE]) {
  unsigned char bytes[1024] = {0};
  const size_t size = image->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  for (size_t i = 0; i < 3; i++) {
    unsigned char *segment = bytes + 64 + i * size;
    put(segment, 4, image->big,
        i == 1   ? PT_INTERP
        : i == 2 ? image->third
                 : PT_LOAD);
#define PUT(field, value)                                                      \
  put(segment + (image->wide ? offsetof(Elf64_Phdr, field)                     \
                             : offsetof(Elf32_Phdr, field)),                   \
      image->wide ? 8 : 4, image->big, (value))
    PUT(p_offset, i == 1 ? image->at : 310);
    PUT(p_filesz, image->length);
#undef PUT
  }
  memcpy(bytes + 300, LOADER, sizeof LOADER);
  struct elf elf = {.wide = image->wide,
                    .big = image->big,
                    .type = ET_DYN,
                    .machine = EM_X86_64,
                    .segments = image->phoff,
                    .segment_size = image->phentsize,
                    .segment_count = image->phnum};
  int fd = memfd_create("image", MFD_CLOEXEC);
  CHECK(write(fd, bytes, image->size) == (ssize_t)image->size);
  if (image->size == sizeof bytes)
    CHECK(ftruncate(fd, 1 << 20) == 0);
  bool whole = elf_loader(fd, &elf, loader);
  close(fd);
  return whole;
}

static void the_loader_is_found(void) {
  char loader[HEAD_SIZE];
  for (int big = 0; big < 2; big++)
    for (int wide = 0; wide < 2; wide++) {
      struct image image = sound;
      image.wide = wide;
      image.big = big;
      image.phentsize = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
      CHECK(loader_of(&image, loader));
      CHECK_STRING(loader, LOADER);
    }
  struct image image = sound;
  /* The first one counts. */
  image.third = PT_INTERP;
  CHECK(loader_of(&image, loader));
  CHECK_STRING(loader, LOADER);
  image.phnum = 1;
  CHECK(loader_of(&image, loader));
  CHECK_STRING(loader, "");
}

static void lying_headers_are_seen_through(void) {
  char loader[HEAD_SIZE];
  struct image image;
#define WHOLE(field, value)                                                    \
  (image = sound, image.field = (value), loader_of(&image, loader))
  CHECK(!WHOLE(phnum, 0));
  CHECK(!WHOLE(phnum, 0xffff));
  CHECK(!WHOLE(phentsize, sizeof(Elf32_Phdr)));
  CHECK(!WHOLE(phentsize, 0));
  /* More than 64 KiB of them, all there. */
  CHECK(!WHOLE(phnum, 0xffff));
  image.size = 1024;
  image.phnum = 1170;
  CHECK(loader_of(&image, loader));
  image.phnum = 1171;
  CHECK(!loader_of(&image, loader));
  CHECK(!WHOLE(phoff, 1 << 20));
  CHECK(!WHOLE(phoff, UINT64_MAX));
  CHECK(!WHOLE(phoff, INT64_MAX - 100));
  CHECK(!WHOLE(size, 64 + sizeof(Elf64_Phdr)));
  CHECK(!WHOLE(length, 0));
  CHECK(!WHOLE(length, 1));
  CHECK(!WHOLE(length, UINT64_MAX));
  CHECK(!WHOLE(length, sizeof LOADER - 1)); /* no terminator */
  /* Here the kernel has another errno, so nothing is said of them. */
  CHECK(WHOLE(at, 1 << 20));
  CHECK_STRING(loader, "");
  CHECK(WHOLE(at, UINT64_MAX));
  CHECK_STRING(loader, "");
  CHECK(WHOLE(length, HEAD_SIZE + 1));
  CHECK_STRING(loader, "");
#undef WHOLE
}

int main(void) {
  a_text_is_told_by_its_first_bytes();
  the_interpreter_line_is_read_as_the_kernel_does();
  a_long_interpreter_line_is_cut_as_by_the_kernel();
  architectures_have_their_names();
  foreign_is_only_what_certainly_is();
  what_is_no_elf_header_is_none();
  the_loader_is_found();
  lying_headers_are_seen_through();
  return unit_result();
}
