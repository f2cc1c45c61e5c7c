# When the program cannot be executed, or was killed, one line says why. The
# words are foster's own, so they are the same with every libc.

load helpers

setup() {
  # Only the soft limit of core dumps, so that a test can lift it.
  # shellcheck disable=SC2317
  ulimit() { builtin ulimit -S "$@"; }
  common_setup
  unset -f ulimit
}

# says CODE LINE PROGRAM [ARG...]: init exits with this code, and this line is
# all that is said.
says() {
  local code=$1 line=$2
  shift 2
  try foster "$@"
  is "$output" "foster: $line"
  is "$status" "$code"
}

# script NAME TEXT: an executable file. TEXT is a format of printf.
script() {
  # shellcheck disable=SC2059
  printf "$2" >"$1"
  chmod +x "$1"
}

# ---- Not found

missing_files() {
  says 127 "./missing: no such file or directory (in '$PWD')" ./missing
  says 127 "$PWD/missing: no such file or directory" "$PWD/missing"
  says 127 "no/such/folder/x: there is no directory 'no'" no/such/folder/x
  says 127 "/dev/null/x: not a directory: '/dev/null'" /dev/null/x
  says 127 "the program's name is empty" ''
  ln -s missing link
  says 127 "./link: is a symbolic link to 'missing', which is missing" ./link
  mkdir folder
  cd folder || return
  says 127 "./missing: no such file or directory (in '$PWD')" ./missing
}
@test "explain: what part of a path is missing: as PID 1" { as_pid1 missing_files; }
@test "explain: what part of a path is missing: as a subreaper" { as_subreaper missing_files; }

names_in_path() {
  local tool
  tool=$(command -v env)
  # PATH is the program's, and not the one by which init itself is found.
  inside "$tool" PATH=/nowhere:/dev
  says 127 "missing: not found in PATH '/nowhere:/dev'" missing
  says 127 "sleep 1: not found in PATH '/nowhere:/dev' (the blank is part of the name: meant as two words?)" "sleep 1"
  inside "$tool" PATH=
  says 127 "missing: not found in PATH ''" missing
  inside "$tool" -u PATH
  try foster missing
  is "$status" 127
  matches "$output" "^foster: missing: not found in PATH '/.*:/bin'$"
}
@test "explain: which PATH was searched: as PID 1" { as_pid1 names_in_path; }
@test "explain: which PATH was searched: as a subreaper" { as_subreaper names_in_path; }

# What was found but cannot be run is the reason, not that others lack it.
found_in_path() {
  mkdir one two
  script one/denied '#!/bin/sh\n'
  chmod -x one/denied
  script two/broken '#!/bin/nosuch\n'
  inside "$(command -v env)" "PATH=/nowhere:$PWD/one:$PWD/two:/dev"
  says 126 "$PWD/one/denied: has no x bit (chmod +x)" denied
  says 126 "$PWD/two/broken: its interpreter '/bin/nosuch' is missing" broken
  says 126 "/dev/null: is not a regular file" null
}
@test "explain: what PATH finds but cannot be run is named: as PID 1" { as_pid1 found_in_path; }
@test "explain: what PATH finds but cannot be run is named: as a subreaper" { as_subreaper found_in_path; }

long_paths() {
  local path
  path=$(printf 'd/%.0s' {1..200})
  says 127 "...$(printf %s "./${path}x" | tail -c 256): there is no directory './d'" "./${path}x"
  mkdir -p "$path"
  # What is missing may be as long, and so may what a link leads to.
  says 127 "...$(printf %s "./${path}e/x" | tail -c 256): there is no directory '...$(printf %s "./${path}e" | tail -c 256)'" "./${path}e/x"
  ln -s "${path}e" link
  says 127 "./link: is a symbolic link to '...$(printf %s "${path}e" | tail -c 256)', which is missing" ./link
  script "${path}x" '#!/bin/nosuch\n'
  says 126 "...$(printf %s "./${path}x" | tail -c 256): its interpreter '/bin/nosuch' is missing" "./${path}x"
  script "${path}x" '#!/bin/sh\nexit 7\n'
  try foster "./${path}x"
  is "$status" 7
  # More than a path may have.
  path=$(printf 'd/%.0s' {1..2100})
  says 126 "...$(printf %s "${path}x" | tail -c 256): file name too long" "${path}x"
}
@test "explain: a path of 200 components leaves room for the reason: as PID 1" { as_pid1 long_paths; }
@test "explain: a path of 200 components leaves room for the reason: as a subreaper" { as_subreaper long_paths; }

# ---- Found, but not allowed

not_executable() {
  mkdir folder
  says 126 "./folder: is a directory" ./folder
  says 126 "/: is a directory" /
  script plain '#!/bin/sh\n'
  chmod -x plain
  says 126 "./plain: has no x bit (chmod +x)" ./plain
  script by-plain '#!./plain\n'
  says 126 "./by-plain: its interpreter './plain' has no x bit (chmod +x)" ./by-plain
  mkfifo -m 755 fifo
  says 126 "./fifo: is not a regular file" ./fifo
}
@test "explain: what is not executable: as PID 1" { as_pid1 not_executable; }
@test "explain: what is not executable: as a subreaper" { as_subreaper not_executable; }

# in_mounts COMMAND...: with mounts of its own, gone with the command.
in_mounts() {
  local flags=-Urm
  unshare -Urm true 2>/dev/null || flags=-m
  unshare "$flags" "$@"
}

noexec_mounts() {
  requires pid_namespace
  mkdir mount
  script by-noexec '#!mount/x\n'
  try in_mounts sh -c '
    mount -t tmpfs -o noexec none mount && cp /bin/sh mount/x || exit 99
    "$@" mount/x; echo $?
    "$@" ./by-noexec; echo $?' - "${INIT_COMMAND[@]}"
  is "$output" "foster: mount/x: is on a file system that is mounted noexec
126
foster: ./by-noexec: its interpreter 'mount/x' is on a file system that is mounted noexec
126"
}
@test "explain: a file system mounted noexec: as PID 1" { as_pid1 noexec_mounts; }
@test "explain: a file system mounted noexec: as a subreaper" { as_subreaper noexec_mounts; }

@test "explain: what another user may not execute" {
  requires root setpriv
  # Where anybody gets to.
  folder=$(mktemp -d /tmp/foster-XXXXXX)
  cp "$FOSTER" "$folder/foster"
  cd "$folder" || return
  chmod 755 .
  mkdir -m 700 closed
  script closed/program '#!/bin/sh\n'
  script private '#!/bin/sh\n'
  chmod 700 private
  INIT_COMMAND=(setpriv --reuid 12345 --clear-groups ./foster)
  result=0
  { says 126 "./private: may not be executed by user 12345" ./private &&
    says 126 "closed/program: permission denied: the directory 'closed' is closed to user 12345" closed/program; } ||
    result=1
  cd /
  rm -r "$folder"
  is "$result" 0
}

# ---- Scripts

interpreters() {
  script missing '#!/bin/nosuch -e\n'
  says 126 "./missing: its interpreter '/bin/nosuch' is missing" ./missing
  script crlf '#!/bin/sh\r\necho hi\r\n'
  says 126 "./crlf: '#!/bin/sh\\r': the script has CRLF line ends" ./crlf
  script bom '\xef\xbb\xbf#!/bin/sh\n'
  says 126 "./bom: has a byte order mark (BOM) before its '#!'" ./bom
  script blank '#! \n'
  says 126 "./blank: has a '#!' line without an interpreter" ./blank
  script long "#!/$(printf 'x%.0s' {1..300})\n"
  says 126 "./long: has a '#!' line of more than 255 bytes" ./long
  script escape '#!/bin/\033[31mred\n'
  says 126 "./escape: its interpreter '/bin/\\x1b[31mred' is missing" ./escape
  script empty ''
  says 126 "./empty: is empty" ./empty
  script data 'a\0b'
  says 126 "./data: is neither an ELF program nor a script" ./data
  # The interpreter is a script itself.
  script chain '#!./missing\n'
  says 126 "./chain: its interpreter '/bin/nosuch' is missing" ./chain
  script self '#!./self\n'
  says 126 "./self: more than 5 scripts, each the '#!' interpreter of the one before" ./self
  # Where nothing is wrong it runs.
  script good '#! /bin/sh -e \nexit 7\n'
  script by-good '#!./good\n'
  try foster ./by-good
  is "$status:$output" "7:"
}
@test "explain: what is wrong with a script: as PID 1" { as_pid1 interpreters; }
@test "explain: what is wrong with a script: as a subreaper" { as_subreaper interpreters; }

# env itself is found and runs; what it then says does not name the PATH, and
# busybox's prints a CR as it is.
env_finds_nothing() {
  script missing '#!/usr/bin/env no-such-program\n'
  try foster "$PWD/missing"
  is "$status" 127
  is "${lines[-1]}" "foster: $PWD/missing: its interpreter 'no-such-program' is not found in PATH '$PATH'"
  script crlf '#!/usr/bin/env sh\r\n'
  try foster "$PWD/crlf"
  is "$status" 127
  is "${lines[-1]}" "foster: $PWD/crlf: '#!/usr/bin/env sh\\r': the script has CRLF line ends"
  PATH=$PWD:$PATH try foster crlf
  is "${lines[-1]}" "foster: $PWD/crlf: '#!/usr/bin/env sh\\r': the script has CRLF line ends"
  script words '#!/usr/bin/env sh -e\n'
  try foster "$PWD/words"
  is "$status" 127
  is "${lines[-1]}" "foster: $PWD/words: its interpreter 'sh -e' is not found in PATH '$PATH' (env takes it as one word; env -S splits)"
  # 127 is the program's own.
  script own '#!/usr/bin/env sh\nexit 127\n'
  try foster "$PWD/own"
  is "$status:$output" "127:"
  try foster sh -c 'exit 127'
  is "$status:$output" "127:"
}
@test "explain: what env does not find: as PID 1" { as_pid1 env_finds_nothing; }
@test "explain: what env does not find: as a subreaper" { as_subreaper env_finds_nothing; }

names_are_escaped() {
  says 127 "./a\\x0ab\\x1b[31m\\xff: no such file or directory (in '$PWD')" $'./a\nb\e[31m\xff'
}
@test "explain: control bytes in a name are escaped: as PID 1" { as_pid1 names_are_escaped; }
@test "explain: control bytes in a name are escaped: as a subreaper" { as_subreaper names_are_escaped; }

# An image without a shell, a loader or a libc. Dynamic builds cannot live there.
bare_image() {
  local bash loader hint='' chroot=(chroot image)
  bash=$(command -v bash)
  loader=$(readelf -l "$bash" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
  mkdir -p "image/${FOSTER%/*}"
  cp "$FOSTER" "image/$FOSTER"
  cp "$bash" image/bash
  script image/text 'echo hi\n'
  script image/script '#!/bin/bash\n'
  script image/by-bash '#!/bash\n'
  # A namespace's root may do it as well.
  [[ $MODE == pid1 || $EUID == 0 ]] || chroot=(unshare -Ur "${chroot[@]}")
  inside "${chroot[@]}"
  try foster /text
  is "$output" "foster: /text: has no '#!' line, and /bin/sh is missing"
  says 126 "/script: its interpreter '/bin/bash' is missing" /script
  [[ $loader != /lib*/ld-linux* ]] || hint=' (a glibc program in an image without glibc?)'
  [[ $loader != /lib/ld-musl-* ]] || hint=' (a musl program in an image without musl?)'
  says 126 "/bash: needs the loader $loader, which is missing$hint" /bash
  says 126 "/by-bash: its interpreter '/bash' needs the loader $loader, which is missing$hint" /by-bash
  says 127 "sh: not found in PATH '$PATH'" sh
}
# bats test_tags=not-asan
@test "explain: an image without shell and loader: as PID 1" { as_pid1 bare_image; }
# bats test_tags=not-asan
@test "explain: an image without shell and loader: as a subreaper" { as_subreaper bare_image; }

# ---- ELF

# patched AT BYTES NAME: this program with bytes of its header changed.
patched() {
  cp "$PROBE" "$3"
  # shellcheck disable=SC2059
  printf "$2" | dd of="$3" bs=1 seek="$1" conv=notrunc status=none
}

elf_files() {
  local here
  here=$(uname -m)
  # e_machine is at 18, e_type at 16. An emulator may be registered for the
  # common ones.
  patched 18 '\x02\x01' foreign
  says 126 "./foreign: is built for loongarch64, this machine is $here" ./foreign
  script by-foreign '#!./foreign\n'
  says 126 "./by-foreign: its interpreter './foreign' is built for loongarch64, this machine is $here" ./by-foreign
  patched 18 '\x2a\x2a' unknown
  says 126 "./unknown: exec format error" ./unknown
  patched 16 '\x01' object
  says 126 "./object: is an ELF file, but not a program" ./object
  head -c 70 "$PROBE" >short
  chmod +x short
  says 126 "./short: is a damaged or truncated ELF file" ./short
  printf '\177ELF' >magic
  chmod +x magic
  says 126 "./magic: exec format error" ./magic
}
@test "explain: foreign, damaged and cut programs: as PID 1" { as_pid1 elf_files; }
@test "explain: foreign, damaged and cut programs: as a subreaper" { as_subreaper elf_files; }

# ---- Busy, too long, too many

text_busy() {
  cp "$PROBE" program
  exec {fd}>>program
  # Linux 6.11 and 6.12 let it be executed all the same.
  if ! ./program state >/dev/null 2>&1; then
    says 126 "./program: text file busy: it, or its interpreter, is open for writing" ./program state
  fi
  exec {fd}>&-
  try foster ./program state
  is "$status" 0
}
@test "explain: a program that is open for writing: as PID 1" { as_pid1 text_busy; }
@test "explain: a program that is open for writing: as a subreaper" { as_subreaper text_busy; }

# Init itself was executed with all these arguments, so only what is added for
# an interpreter can make them too long.
arguments_too_long() {
  local low=0 high=131072 middle word
  script script "#!/bin/sh $(printf 'x%.0s' {1..200})\n"
  try bash -c 'ulimit -s 512 && "$@"' - "${INIT_COMMAND[@]}" ./script
  [[ $output != *"too long"* ]]
  ulimit -s 512
  while ((high - low > 1)); do
    middle=$(((low + high) / 2))
    printf -v word '%*s' "$middle" ''
    try foster ./missing "$word"
    if [[ $output == "foster: ./missing: "* ]]; then low=$middle; else high=$middle; fi
  done
  printf -v word '%*s' "$low" ''
  says 126 "./script: argument list too long" ./script "$word"
}
@test "explain: arguments that are too long: as a subreaper" { as_subreaper arguments_too_long; }

symbolic_links() {
  ln -s loop loop
  says 126 "./loop: too many levels of symbolic links" ./loop
  script by-loop '#!./loop\n'
  says 126 "./by-loop: its interpreter './loop' cannot be reached: too many levels of symbolic links" ./by-loop
  # A link is what it leads to.
  script missing '#!/bin/nosuch\n'
  ln -s missing link
  says 126 "./link: its interpreter '/bin/nosuch' is missing" ./link
}
@test "explain: symbolic links: as PID 1" { as_pid1 symbolic_links; }
@test "explain: symbolic links: as a subreaper" { as_subreaper symbolic_links; }

# ---- How the program died

# The end of the line depends on whether the machine lets us see its cgroups.
by_nobody_knows='(; not by the OOM killer of this cgroup: somebody sent it)?'

deaths_are_named() {
  try foster sh -c 'kill -KILL $$'
  is "$status" 137
  matches "$output" "^foster: sh \(pid [0-9]+\) was killed by SIGKILL$by_nobody_knows$"
  try foster sh -c 'kill -SEGV $$'
  is "$status" 139
  matches "$output" "^foster: sh \(pid [0-9]+\) was killed by SIGSEGV$"
  try foster sh -c 'kill -TERM $$'
  is "$status" 143
  matches "$output" "^foster: sh \(pid [0-9]+\) was killed by SIGTERM$"
  try foster "$PROBE" raise 40
  is "$status" 168
  matches "${lines[-1]}" "^foster: .*probe \(pid [0-9]+\) was killed by SIGRTMIN\+6$"
}
@test "explain: a violent death is named: as PID 1" { as_pid1 deaths_are_named; }
@test "explain: a violent death is named: as a subreaper" { as_subreaper deaths_are_named; }

# Whether a core can be dumped is the machine's affair; a shell knows.
core_dumps() {
  ulimit -S -c "$(ulimit -H -c)"
  local dumped=''
  try bash -c 'sh -c "kill -SEGV \$\$"; :'
  [[ $output != *"core dumped"* ]] || dumped=' \(core dumped\)'
  try foster sh -c 'kill -SEGV $$'
  matches "$output" "was killed by SIGSEGV$dumped$"
}
@test "explain: a core dump is told of: as a subreaper" { as_subreaper core_dumps; }

cpu_limit() {
  inside sh -c 'ulimit -t 600; exec "$@"' -
  try foster sh -c 'kill -KILL $$'
  matches "$output" "^foster: sh \(pid [0-9]+\) was killed by SIGKILL(; .*, or 600 s of CPU time were used up \(RLIMIT_CPU\))?$"
}
@test "explain: a limit of CPU time may be what killed it: as PID 1" { as_pid1 cpu_limit; }
@test "explain: a limit of CPU time may be what killed it: as a subreaper" { as_subreaper cpu_limit; }

ordinary_ends_are_silent() {
  local name
  try foster true
  is "$status:$output" "0:"
  try foster sh -c 'exit 9'
  is "$status:$output" "9:"
  # A shell's background jobs ignore SIGINT, and so would the program.
  for name in TERM HUP USR1; do
    start sh -c 'echo READY; exec sleep 1000'
    ready
    signal "$name"
    finish
    is "$status" $((128 + $(kill -l "$name")))
    is "$stderr" ''
  done
}
@test "explain: ordinary ends and forwarded signals are silent: as PID 1" { as_pid1 ordinary_ends_are_silent; }
@test "explain: ordinary ends and forwarded signals are silent: as a subreaper" { as_subreaper ordinary_ends_are_silent; }
