# foster: build, install, test.
#
#   make                 build/foster: static, stripped; with musl where it is
#   make STATIC=0        dynamic
#   make install         PREFIX=/usr/local DESTDIR=
#   make demo            build, and show the main job
#   make check           all tests that need no container engine and are quick
#   make check-slow      the others: storms, faults, builds
#   make check-smoke     a few seconds of them
#   make check-asan check-valgrind check-glibc check-faults
#   make check-runtimes check-real
#   make lint fuzz bench
#   make coverage        what of src the tests run, line by line
#   make soak            half an hour of storms, SOAK_SECONDS=1800
#   make check-kernels   a few tests with older kernels, in virtual machines
#   make check-cross     builds for other machines, and a few tests of them
#   make dist            build/dist: source archive, static binaries, SHA256SUMS
#   make deb             build/deb: a Debian package
#
# CC, CFLAGS, CPPFLAGS, LDFLAGS and STRIP (empty: not stripped) are honoured.
# DEPS=0 never installs a tool.

VERSION = 1.0.0
BUILD   = build
PREFIX  = /usr/local
DESTDIR =
STATIC  = 1
DEPS    = 1
# Sanitizer flags, for foster and its unit tests but not for the probes.
SANITIZE =

# musl makes a static binary that is a twentieth of glibc's. It is chosen here,
# and not in a recipe, so whatever installs it has to run before this make does:
# see "after setup" below.
ifeq ($(origin CC),default)
  CC := $(shell command -v musl-gcc >/dev/null 2>&1 && echo musl-gcc || echo cc)
endif
# The compiler knows the one for what it compiles for.
STRIP ?= $(or $(shell $(CC) -print-prog-name=strip 2>/dev/null),strip)

# As small as the compiler knows to make it. What gcc is not to do makes code
# faster, and larger. No floating point: nor are its registers to be saved.
override understands = $(shell $(CC) -Werror $(1) -x c -fsyntax-only /dev/null \
  >/dev/null 2>&1 && echo '$(1)')
ifeq ($(origin CFLAGS),undefined)
  CFLAGS := $(or $(call understands,-Oz),-Os)
  override SMALLER := $(call understands,-mgeneral-regs-only) \
    $(call understands,-malign-data=abi) \
    $(call understands,-flto -ffat-lto-objects \
    -fno-inline-functions-called-once -fno-jump-tables -fno-caller-saves \
    -fno-tree-dominator-opts -fno-ipa-cp -fno-shrink-wrap \
    -fno-move-loop-invariants -fno-tree-vrp)
endif
override SIZE_CFLAGS = -ffunction-sections -fdata-sections \
  -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-ident \
  -fomit-frame-pointer -fmerge-all-constants
# All our data is zero at the start, takes no room in the file and begins a page.
override SIZE_LDFLAGS = -Wl,--gc-sections -Wl,--sort-section=name \
  -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,--build-id=none \
  -Wl,--hash-style=gnu
ifneq ($(SANITIZE),)
  override SIZE_CFLAGS =
  override SIZE_LDFLAGS =
  override STRIP =
endif

override WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
  -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 -Wcast-qual

ifeq ($(STATIC),0)
  override LINK_CFLAGS  =
  override LINK_LDFLAGS =
else
  # Not position-independent: relocations and their code are a tenth of all.
  override LINK_CFLAGS  = -fno-pie
  override LINK_LDFLAGS = -static -no-pie
endif

# The compiler may be installed only later.
LIBC    := $(if $(findstring musl,$(CC) \
             $(shell $(CC) -dumpmachine 2>/dev/null)),musl,the libc of $(CC))

# What else gcc links for constructors is half a kilobyte, and we have none: of
# musl's start files the first is enough. For x86_64 there is a start of our own,
# which gives no thread its memory, so a canary has to be a global variable.
ifeq ($(STATIC)$(SANITIZE)$(strip $(LIBC)),1musl)
  START_CFLAGS := -mstack-protector-guard=global
  START := $(shell $(CC) $(CPPFLAGS) $(CFLAGS) $(START_CFLAGS) -E src/start.S \
    >/dev/null 2>&1 && echo $(BUILD)/obj/start.o)
  ifneq ($(START),)
    override LINK_CFLAGS += $(START_CFLAGS)
    # Nothing of the libc is left that would want the stack aligned to 16.
    override SMALLEST := $(and $(SMALLER),\
      $(call understands,-mpreferred-stack-boundary=3))
  else
    hash := \#
    START := $(filter %crt1.o,$(subst ",,$(shell $(CC) -static -no-pie \
      '-$(hash)$(hash)$(hash)' -x c /dev/null 2>&1)))
  endif
  override START_FILES = $(START:%=-nostartfiles %) $(SMALLEST)
endif

# Same bits from any folder: sources are named relative to this one, and the
# name of the folder itself is mapped away.
override BASE_CFLAGS = -std=c11 -D_GNU_SOURCE -ffile-prefix-map=$(CURDIR)=. \
  $(WARNINGS) $(SIZE_CFLAGS) $(LINK_CFLAGS) $(SANITIZE)
override COMPILE = $(CC) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) -MMD -MP
override LINK = $(CC) $(SANITIZE) $(CFLAGS) $(SMALLER) $(LINK_LDFLAGS) $(START_FILES) \
  $(SIZE_LDFLAGS) $(LDFLAGS)
override PROBE_FLAGS = $(CPPFLAGS) -std=c11 -D_GNU_SOURCE $(WARNINGS) \
  $(LINK_CFLAGS) $(CFLAGS) -MMD -MP

# Seven digits, as dockerd compares them. .commit is in a release tarball.
COMMIT := $(shell if [ -e .commit ]; then cat .commit; elif [ -e .git ]; then \
  git -c safe.directory='*' rev-parse HEAD 2>/dev/null; fi | cut -c1-7)
override IDENTITY = -DFOSTER_VERSION='"$(VERSION)"' \
  $(if $(COMMIT),-DFOSTER_COMMIT='"$(COMMIT)"')

SOURCES := $(sort $(wildcard src/*.c))
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/obj/%.o)
PARTS   := $(filter-out $(BUILD)/obj/main.o,$(OBJECTS))
PROBES  := $(sort $(wildcard tests/probes/*.c))
UNITS   := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,\
             $(sort $(wildcard tests/unit/test_*.c)))
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

.DELETE_ON_ERROR:
.SUFFIXES:
# Those that first install what they need: see below.
TASKS := demo check check-slow check-smoke check-asan check-valgrind \
  check-glibc check-faults check-runtimes check-real check-kernels check-cross \
  lint fuzz bench coverage soak dist deb
.PHONY: all install clean probe units $(TASKS) $(TASKS:=-now) FORCE

all: $(BUILD)/foster

$(BUILD)/foster: $(OBJECTS) $(START) $(BUILD)/flags
	$(LINK) -o $@.full $(OBJECTS)
	$(if $(STRIP),$(STRIP) -s -R .comment -R .note.gnu.property -o $@ $@.full,\
	  cp $@.full $@)
	@echo "$@: $$(wc -c <$@) bytes, $(strip $(LIBC)), \
	$(if $(filter 0,$(STATIC)),dynamic,static)"

$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) $(SMALLER) -c -o $@ $<

$(BUILD)/obj/start.o: src/start.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(BUILD)/obj/texts.o $(BUILD)/obj/status.o: $(BUILD)/identity
$(BUILD)/obj/texts.o $(BUILD)/obj/status.o: \
  override BASE_CFLAGS += $(IDENTITY)

# Stamps: rewritten only when they would say something else.
define stamp
@mkdir -p $(@D)
@printf '%s\n' $(1) >$@.new
@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
endef
$(BUILD)/flags: FORCE
	$(call stamp,'$(subst ','\'',$(COMPILE) $(SMALLER) / $(LINK))')
$(BUILD)/identity: FORCE
	$(call stamp,'$(subst ','\'',$(IDENTITY))')

probe: $(BUILD)/probe
$(BUILD)/probe: $(PROBES:tests/probes/%.c=$(BUILD)/probes/%.o)
	$(CC) $(CFLAGS) $(LINK_LDFLAGS) $(LDFLAGS) -o $@ $^
$(BUILD)/probes/%.o: tests/probes/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(PROBE_FLAGS) -c -o $@ $<

# Everything but main(), for the unit tests. A test that includes a src/*.c to
# reach what is static there brings its symbols along, and the archive's own
# copy is not pulled in.
$(BUILD)/parts.a: $(PARTS)
	@rm -f $@
	ar rcs $@ $^
units: $(UNITS)
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/parts.a
	@mkdir -p $(@D)
	$(COMPILE) $(IDENTITY) -UNDEBUG -Isrc -MF $@.d -o $@ $< $(BUILD)/parts.a \
	  $(LINK_LDFLAGS) $(SIZE_LDFLAGS) $(LDFLAGS)

install: $(BUILD)/foster
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BUILD)/foster $(DESTDIR)$(PREFIX)/bin/foster
	install -m 644 src/foster.1 $(DESTDIR)$(PREFIX)/share/man/man1/foster.1

clean:
	rm -rf $(BUILD)

# What tests/setup may install changes which compiler is there, so the work
# itself is done by a second make, after setup. That shows its own output, and
# not the compiler's commands.
$(TASKS):
	@DEPS=$(DEPS) BUILD=$(abspath $(BUILD)) sh tests/setup $@
	@+$(MAKE) --no-print-directory -s $@-now

override TEST_ENV = BUILD=$(abspath $(BUILD)) \
  FOSTER=$(or $(FOSTER),$(abspath $(BUILD)/foster)) \
  PROBE=$(abspath $(BUILD)/probe)
# Not of what goes wrong every day, and each takes minutes.
override SLOW = tests/storm.bats tests/faults.bats tests/build.bats
TESTS = $(filter-out $(SLOW),$(sort $(wildcard tests/*.bats)))
# Unless some are named.
override ALL_TESTS = $(TESTS) $(if $(filter file,$(origin TESTS)),$(SLOW))

demo-now: $(BUILD)/foster
	@$(TEST_ENV) sh tests/demo

check-now: $(BUILD)/foster $(BUILD)/probe $(UNITS)
	@$(TEST_ENV) bash tests/run $(UNITS) $(TESTS)

check-slow-now: $(BUILD)/foster $(BUILD)/probe
	@$(TEST_ENV) bash tests/run $(SLOW)

check-smoke-now: $(BUILD)/foster $(BUILD)/probe $(UNITS)
	@$(TEST_ENV) bash tests/run $(UNITS) tests/options.bats tests/spawn.bats

check-runtimes-now: $(BUILD)/foster $(BUILD)/probe
	@$(TEST_ENV) bash tests/run --jobs 1 $(sort $(wildcard tests/runtimes/*.bats))

# REAL names some of the files, where all would take too long: the first run
# fetches hundreds of Debian's packages, and keeps them in the build folder.
REAL = $(sort $(wildcard tests/real/*.bats))
check-real-now: $(BUILD)/foster $(BUILD)/probe
	@$(TEST_ENV) bash tests/run --jobs 1 --limit 3600 $(REAL)

# Each occurrence of each system call, which takes long: see tests/faults.bats.
check-faults-now: $(BUILD)/foster $(BUILD)/probe
	@$(TEST_ENV) FAULTS=all bash tests/run --limit 10000 tests/faults.bats

check-kernels-now: $(BUILD)/foster $(BUILD)/probe
	@$(TEST_ENV) bash tests/run --jobs 1 tests/kernels/kernels.bats

# Debian's compilers for other machines.
override CROSS = aarch64 armhf i386 riscv64 s390x ppc64el
override MACHINE_aarch64 = aarch64-linux-gnu
override MACHINE_armhf   = arm-linux-gnueabihf
override MACHINE_i386    = i686-linux-gnu
override MACHINE_riscv64 = riscv64-linux-gnu
override MACHINE_s390x   = s390x-linux-gnu
override MACHINE_ppc64el = powerpc64le-linux-gnu

check-cross-now: $(BUILD)/foster $(BUILD)/probe $(CROSS:%=cross-%)
	@$(TEST_ENV) bash tests/run --jobs 1 tests/cross/cross.bats
.PHONY: $(CROSS:%=cross-%)
$(CROSS:%=cross-%): cross-%:
	@+if command -v $(MACHINE_$*)-gcc >/dev/null; then \
	  $(MAKE) --no-print-directory CC=$(MACHINE_$*)-gcc \
	    BUILD=$(BUILD)/cross/$* all units; \
	fi

# The same tests with other builds. What a build makes impossible is tagged in
# the test with the reason, and left out here. OMIT leaves out more, by tag:
# "storm" is what keeps a busy machine busy.
OMIT =
override ALSO_OMIT = $(OMIT:%=,%)
check-glibc-now:
	@+FOSTER_OMIT=not-glibc$(ALSO_OMIT) $(MAKE) --no-print-directory check-now \
	  CC=gcc BUILD=$(BUILD)/glibc TESTS='$(ALL_TESTS)'

check-asan-now:
	@+FOSTER_OMIT=not-asan,not-glibc$(ALSO_OMIT) \
	  ASAN_OPTIONS=detect_leaks=0:disable_coredump=0:exitcode=99:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0 \
	  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=99 \
	  $(MAKE) --no-print-directory check-now CC=gcc STATIC=0 \
	  BUILD=$(BUILD)/asan TESTS='$(ALL_TESTS)' CFLAGS='-O1 -g' \
	  SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'

# The unit tests under valgrind.
check-valgrind-now:
	@+$(MAKE) --no-print-directory valgrind-run CC=gcc STATIC=0 \
	  CFLAGS='-O1 -g' SANITIZE=-fno-omit-frame-pointer BUILD=$(BUILD)/valgrind
.PHONY: valgrind-run
valgrind-run: $(UNITS)
	@bash tests/run --under 'valgrind --quiet --error-exitcode=99' $(UNITS)

# Four storms at once, each so long.
SOAK_SECONDS = 1800
soak-now: $(BUILD)/foster $(BUILD)/probe
	@$(TEST_ENV) SOAK_SECONDS=$(SOAK_SECONDS) bash tests/run --jobs 4 \
	  --limit $$(($(SOAK_SECONDS) + 900)) $(sort $(wildcard tests/soak/*.bats))

# With musl, since system calls are made to fail one by one, and another libc
# makes others. Whether the tests pass so is not asked: some see the counters
# being written.
override COVERED = $(abspath $(BUILD))/coverage
coverage-now:
	@mkdir -p $(COVERED)
	$(CC) -O1 -c -o $(COVERED)/dump.o tests/coverage/dump.c
	@+$(MAKE) --no-print-directory coverage-run CC=$(CC) BUILD=$(COVERED) \
	  CFLAGS='-O0 -g' LDFLAGS='-Wl,--wrap=signals_set_mask $(COVERED)/dump.o -lgcov' \
	  SANITIZE='--coverage -fno-builtin-execve -ffile-prefix-map=$(CURDIR)=$(CURDIR)'
	@jq --version >/dev/null && bash tests/coverage/check $(COVERED)
.PHONY: coverage-run
coverage-run: $(BUILD)/foster $(BUILD)/probe $(UNITS)
	@find $(BUILD) -name '*.gcda' -delete
	@# Written by other users as well. What build.bats runs has no counters. To
	@# write them takes each run of foster some time: hence the limit.
	@umask 0; $(TEST_ENV) FOSTER_OMIT=not-coverage GCOV_ERROR_FILE=/dev/null \
	  bash tests/run --limit 3600 $(UNITS) \
	  $(filter-out tests/build.bats,$(ALL_TESTS)) || :

lint-now:
	@BUILD=$(abspath $(BUILD)) bash tests/lint

# BENCH=--quick, --json, or some of the measures.
BENCH =
bench-now: $(BUILD)/foster $(BUILD)/probe
	@$(TEST_ENV) bash tests/bench/run $(BENCH)

# Those to build for as well, of those whose compilers are there.
ARCHITECTURES = x86_64 $(CROSS)
dist-now deb-now:
	@BUILD=$(BUILD) VERSION=$(VERSION) CC='$(CC)' MAKE='$(MAKE)' \
	  ARCHITECTURES='$(ARCHITECTURES)' sh src/release $(@:-now=)

# FUZZ_SECONDS for each; 0 runs the kept corpus once, and nothing new.
FUZZ_SECONDS = 60
fuzz-now: $(FUZZERS:%=$(BUILD)/fuzz/%)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) bash tests/run --fuzz $^
# The files of /proc that it reads are the input.
$(BUILD)/fuzz/fuzz_proc: override FUZZ_LDFLAGS = -Wl,--wrap=call_open
$(BUILD)/fuzz/%: tests/fuzz/%.c $(SOURCES) $(wildcard src/*.h)
	@mkdir -p $(@D)
	clang -std=c11 -D_GNU_SOURCE -O1 -g -Isrc $(IDENTITY) -Dmain=foster_main \
	  -fsanitize=fuzzer-no-link,address,undefined -c -o $@.main.o src/main.c
	clang -std=c11 -D_GNU_SOURCE -O1 -g -Isrc $(IDENTITY) \
	  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	  $(FUZZ_LDFLAGS) -o $@ $< $@.main.o $(filter-out src/main.c,$(SOURCES))

-include $(wildcard $(BUILD)/obj/*.d $(BUILD)/probes/*.d $(BUILD)/unit/*.d)
