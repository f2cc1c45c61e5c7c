#!/usr/bin/env bats
# The command line and FOSTER_OPTIONS, as the program is given them. What each
# option parses to is in tests/unit/test_options.c.

# shellcheck disable=SC2016 # the inner shell expands it
# shellcheck disable=SC2154 # bats sets stderr_lines
bats_require_minimum_version 1.5.0
load helpers

teardown() {
  [[ -z ${shared_folder-} ]] || rm -r "$shared_folder"
  common_teardown
}

# Nothing may run: the program leaves a trace if it does.
refused() {
  local expected=$1
  shift
  rm -f ran
  run -125 --separate-stderr "$FOSTER" "$@" touch ran
  is "$output" ''
  is "$stderr" "foster: $expected"
  [[ ! -e ran ]]
}

# ---- What prints and exits.

@test "options: --help lists every option, 80 columns wide, on stdout" {
  local flag option
  for flag in -h --help; do
    run -0 --separate-stderr "$FOSTER" "$flag"
    is "$stderr" ''
    [[ ${lines[0]} == "usage: foster "* ]]
    for option in -c --single-child -g -s --subreaper -r --rewrite=FROM:TO \
      -k --kill-after=SECONDS -t --stop-timeout=SECONDS -e --expect=CODE \
      -p --parent-death=SIGNAL -P --pause -w --warn-on-reap -R --report=FILE \
      '--status\[=PID\]' -v --verbose -l --license -h --help -V --version \
      FOSTER_OPTIONS; do
      matches "$output" "[ ,]$option"
    done
    [[ -z $(expand <<<"$output" | awk 'length > 80') ]]
  done
}

@test "options: --version is one line that dockerd can parse" {
  local flag
  for flag in -V --version; do
    run -0 --separate-stderr "$FOSTER" "$flag"
    is "$stderr" ''
    is "${#lines[@]}" 1
    matches "$output" \
      '^tini version [0-9]+\.[0-9]+\.[0-9]+-foster( - git\.[0-9a-f]{7})?$'
  done
}

@test "options: --license says whose it is; the manual has all of LICENSE" {
  local flag manual=$BATS_TEST_DIRNAME/../src/foster.1
  for flag in -l --license; do
    run -0 --separate-stderr "$FOSTER" "$flag"
    is "$stderr" ''
    matches "${lines[0]}" '^foster, Copyright \(c\) [0-9]+ the foster authors$'
    matches "${lines[1]}" '^MIT License, without warranty'
    matches "$output" 'foster\(1\)'
  done
  is "$(sed '1,/^\.Sh LICENSE/d; /^\.Pp/d; s/\\(dq/"/g' "$manual" |
    tr -s ' \n' '\n')" \
    "$(tail -n +3 "$BATS_TEST_DIRNAME/../LICENSE" | tr -s ' \n' '\n')"
}

@test "options: --help wins over what follows it, and over FOSTER_OPTIONS" {
  FOSTER_OPTIONS='--bad' run -0 --separate-stderr "$FOSTER" --help --worse
  is "$stderr" ''
  FOSTER_OPTIONS='--bad' TINI_VERBOSITY=x run -0 --separate-stderr \
    "$FOSTER" --version
  is "$stderr" ''
}

@test "options: a full stdout is an error of --help" {
  run -125 --separate-stderr bash -c '"$FOSTER" --help >/dev/full'
  is "$stderr" "foster: stdout: no space left on device"
}

# ---- Errors: one line, 125, and nothing is run.

@test "options: an unknown option is named" {
  refused "unknown option '-x'; see foster --help" -x
  refused "unknown option '-x'; see foster --help" -svx
  refused "unknown option '--foo=1'; see foster --help" --foo=1
  refused "unknown option '--sub'; see foster --help" --sub
}

@test "options: a bad value is named, with what would be right" {
  local seconds="not a number of seconds up to 999999999 (like 5, 0.5 or inf)"
  local signal="not a signal (like TERM, 15 or RTMIN+3)"
  refused "-k abc: $seconds" -k abc
  refused "--kill-after=-1: $seconds" --kill-after=-1
  refused "-t 1000000000: $seconds" -t 1000000000
  refused "-e 256: not an exit code (0 to 255)" -e 256
  refused "-p none: $signal" -p none
  refused "-r TREM:INT: FROM is $signal" -r TREM:INT
  refused "-r TERM:XYZ: TO is not a signal, 0 or none" -r TERM:XYZ
  refused "-r TERM: not FROM:TO, as in TERM:INT" -r TERM
  refused "-r KILL:TERM: SIGKILL and SIGSTOP cannot be caught" -r KILL:TERM
  refused "-r CHLD:TERM: SIGCHLD is never forwarded" -r CHLD:TERM
  refused "-R : not the name of a file" -R ''
  refused "--verbose takes no value, but has '2'" --verbose=2
}

@test "options: a missing value is named" {
  run -125 --separate-stderr "$FOSTER" -s -k
  is "$stderr" "foster: -k needs a value: SECONDS"
  run -125 --separate-stderr "$FOSTER" --report
  is "$stderr" "foster: --report needs a value: FILE"
}

@test "options: no program is an error" {
  local arguments
  for arguments in '' '-s' '--' '-s --'; do
    # shellcheck disable=SC2086 # cut at blanks
    run -125 --separate-stderr "$FOSTER" $arguments
    is "$output" ''
    is "$stderr" "foster: no program given; see foster --help"
  done
  # Not even its own name: argv is empty.
  requires python3
  run -125 --separate-stderr python3 -c \
    'import ctypes, os; ctypes.CDLL(None).execv(os.environb[b"FOSTER"], (ctypes.c_char_p * 1)(None))'
  is "$stderr" "foster: no program given; see foster --help"
}

@test "options: --pause with a program is an error" {
  refused "-P runs no program, but 'touch' is given" -P
}

@test "options: --status with anything after it is an error" {
  run -125 --separate-stderr "$FOSTER" --status 1
  is "$stderr" "foster: '1' after --status, which takes --status=PID alone"
  run -125 --separate-stderr "$FOSTER" --status=init
  is "$stderr" "foster: --status=init: not a process id"
}

@test "options: control characters in a culprit stay in the line" {
  refused "unknown option '--a\\x0ab\\x1b[31m'; see foster --help" \
    $'--a\nb\e[31m'
}

@test "options: a line longer than 1 KiB is cut" {
  run -125 --separate-stderr "$FOSTER" "--$(printf '%03000d' 0)"
  is "${#stderr_lines[@]}" 1
  matches "$stderr" "^foster: unknown option '--0*(\.\.\.)?$"
  ((${#stderr} <= 1023))
}

# ---- Where the options end.

@test "options: they end at the program, with every libc" {
  run -3 "$FOSTER" sh -c 'exit 3'
  run -0 --separate-stderr "$FOSTER" echo -v --help --
  is "$output" '-v --help --'
  is "$stderr" ''
}

@test "options: the first -- is dropped, a later one is the program's" {
  run -0 "$FOSTER" -- echo -- x
  is "$output" '-- x'
  run -0 "$FOSTER" -k 1 -- echo --
  is "$output" '--'
  run -127 "$FOSTER" -- -- echo
  run -127 "$FOSTER" -- -s
}

@test "options: letters cluster, values stand apart or attached" {
  run -0 "$FOSTER" -cwk0.5 -r TERM:INT -e3 --expect 4 --kill-after=1 sh -c 'exit 3'
  run -0 "$FOSTER" -we4 sh -c 'exit 4'
}

@test "options: an empty name is for exec to refuse" {
  run -127 --separate-stderr "$FOSTER" -- ''
  is "${#stderr_lines[@]}" 1
}

# ---- The environment.

@test "options: FOSTER_OPTIONS counts before the command line" {
  FOSTER_OPTIONS=$' -e 3\t-e4  -k 1 ' run -0 "$FOSTER" sh -c 'exit 3'
  FOSTER_OPTIONS='-e 3' run -0 "$FOSTER" -e 4 sh -c 'exit 4'
  FOSTER_OPTIONS='' run -3 "$FOSTER" sh -c 'exit 3'
}

@test "options: errors in FOSTER_OPTIONS say so" {
  export FOSTER_OPTIONS
  FOSTER_OPTIONS='-s -x' refused \
    "FOSTER_OPTIONS: unknown option '-x'; see foster --help"
  FOSTER_OPTIONS='-k' refused "FOSTER_OPTIONS: -k needs a value: SECONDS"
  FOSTER_OPTIONS='-e x' refused \
    "FOSTER_OPTIONS: -e x: not an exit code (0 to 255)"
  FOSTER_OPTIONS='-s sh' refused "FOSTER_OPTIONS: 'sh' is not an option"
  FOSTER_OPTIONS='--' refused "FOSTER_OPTIONS: '--' is not an option"
  FOSTER_OPTIONS='--help' refused \
    "FOSTER_OPTIONS: --help is for the command line only"
  FOSTER_OPTIONS='--status' refused \
    "FOSTER_OPTIONS: --status is for the command line only"
}

@test "options: FOSTER_OPTIONS is taken out of the program's environment" {
  FOSTER_OPTIONS='-e 3' A=b run -0 --separate-stderr "$FOSTER" env
  matches "$output" 'A=b'
  [[ $output != *FOSTER_OPTIONS* ]]
  # So a nested foster starts afresh.
  FOSTER_OPTIONS='-e 3' run -0 "$FOSTER" "$FOSTER" sh -c 'exit 3'
  FOSTER_OPTIONS='-e 3' run -4 "$FOSTER" -e 5 "$FOSTER" -e 3 sh -c 'exit 4'
  FOSTER_OPTIONS='-e 3' run -0 --separate-stderr "$FOSTER" "$FOSTER" sh -c \
    '"$FOSTER" sh -c "exit 3"; echo $?'
  is "$output" 3
}

@test "options: the rest of the environment reaches the program, in its order" {
  run -0 env -i Z=1 FOSTER_OPTIONS=-s A=2 FOSTER_OPTIONS2=x M='3 4' \
    "$FOSTER" "$(type -P env)"
  is "$output" $'Z=1\nA=2\nFOSTER_OPTIONS2=x\nM=3 4'
}

# The sanitizers' runtime does not start set-user-ID.
# bats test_tags=not-asan
@test "options: a set-user-ID start reads no environment" {
  requires root setpriv
  # Not below bats' own folder, which other users may not enter.
  shared_folder=$(mktemp -d /tmp/foster-test-XXXXXX)
  chmod 755 "$shared_folder"
  local copy=$shared_folder/foster as_user=(setpriv --reuid 1234 --clear-groups)
  cp "$FOSTER" "$copy"
  cp "$(type -P id)" "$shared_folder/id"
  chown 65534 "$copy" "$shared_folder/id"
  chmod 4755 "$copy" "$shared_folder/id"
  if [[ $("${as_user[@]}" "$shared_folder/id" -u) != 65534 ]]; then
    skip "no set-user-ID programs here (nosuid, no_new_privs)"
  fi
  FOSTER_OPTIONS='-e 3' run -3 "${as_user[@]}" "$copy" sh -c 'exit 3'
  FOSTER_OPTIONS='--bad' run -3 "${as_user[@]}" "$copy" sh -c 'exit 3'
  # It is the bit, and not the user, that makes the difference.
  chmod 755 "$copy"
  FOSTER_OPTIONS='-e 3' run -0 "${as_user[@]}" "$copy" sh -c 'exit 3'
}

@test "options: tini's and dumb-init's variables are understood" {
  TINI_SUBREAPER='' TINI_VERBOSITY=1 TINI_KILL_PROCESS_GROUP=1 \
    run -0 --separate-stderr "$FOSTER" true
  is "$stderr" ''
  TINI_VERBOSITY=2 run -0 --separate-stderr "$FOSTER" true
  [[ -n $stderr ]]
  DUMB_INIT_DEBUG=1 run -0 --separate-stderr "$FOSTER" true
  [[ -n $stderr ]]
}

@test "options: what is not understood in them is a warning" {
  TINI_VERBOSITY=loud run -7 --separate-stderr "$FOSTER" sh -c 'exit 7'
  is "$stderr" \
    "foster: TINI_VERBOSITY=loud is ignored: not a number from 0 to 3"
  DUMB_INIT_SETSID=x DUMB_INIT_DEBUG=2 run -7 --separate-stderr \
    "$FOSTER" sh -c 'exit 7'
  is "$stderr" "foster: DUMB_INIT_SETSID=x is ignored: not a number from 0 to \
1; DUMB_INIT_DEBUG=2 is ignored: not a number from 0 to 1"
}

# ---- stderr.

@test "options: where stderr was closed, lines get into no other file" {
  # The report is the first file that is opened, and 2 the first free number.
  run -0 bash -c '"$FOSTER" -vv -R report true 2>&-'
  is "$output" ''
  matches "$(<report)" '^\{.*\} *$'
  run -127 bash -c '"$FOSTER" -vv -R report ./missing 2>&-'
  is "$output" ''
  matches "$(<report)" '^\{.*\} *$'
}

@test "options: a stderr that nobody reads holds up nothing" {
  local full
  mkfifo full
  exec {full}<>full
  # To the brim, by an open file of dd's own: O_NONBLOCK stays with it.
  run dd if=/dev/zero of=full bs=4096 oflag=nonblock conv=notrunc
  run -125 timeout 30 bash -c '"$FOSTER" -x true 2>&'"$full"
  run -3 timeout 30 bash -c '"$FOSTER" -vv sh -c "exit 3" 2>&'"$full"
  exec {full}>&-
}
