# The program is started exactly as a plain exec would start it, and its exit
# status is foster's.

load helpers

# In one small shell, since bash, and all the more under bats, takes longer to
# start a program than the program takes.
every_exit_code() {
  run sh -c 'code=0
    while [ "$code" -lt 256 ]; do
      "$@" sh -c "exit $code"
      is=$?
      [ "$is" = "$code" ] || echo "$code gives $is"
      code=$((code + 1))
    done
    echo "$code tried"' sh "${INIT_COMMAND[@]}"
  is "$output" "256 tried"
}
@test "spawn: each exit code from 0 to 255 is passed on: as PID 1" { as_pid1 every_exit_code; }
@test "spawn: each exit code from 0 to 255 is passed on: as a subreaper" { as_subreaper every_exit_code; }

every_fatal_signal() {
  # 32 to 34 are a libc's own, which the probe sends all the same.
  local signals=({1..16} {24..27} {29..64})
  run sh -c 'signals=$1 tried=0
    shift
    for sig in $signals; do
      "$@" raise "$sig" >/dev/null 2>&1
      is=$?
      [ "$is" = $((128 + sig)) ] || echo "$sig gives $is"
      tried=$((tried + 1))
    done
    echo "$tried tried"' sh "${signals[*]}" "${INIT_COMMAND[@]}" "$PROBE"
  is "$output" "${#signals[@]} tried"
}
@test "spawn: each fatal signal gives 128 and its number: as PID 1" { as_pid1 every_fatal_signal; }
@test "spawn: each fatal signal gives 128 and its number: as a subreaper" { as_subreaper every_fatal_signal; }

expected_codes() {
  run foster -e 3 --expect=143 sh -c 'exit 3'
  is "$status" 0
  run foster -e 3 --expect=143 sh -c 'kill -TERM $$'
  is "$status" 0
  run foster -e 3 --expect=143 sh -c 'exit 4'
  is "$status" 4
  run foster -e 3 --expect=143 true
  is "$status" 0
}
@test "spawn: an expected exit code is reported as 0: as PID 1" { as_pid1 expected_codes; }
@test "spawn: an expected exit code is reported as 0: as a subreaper" { as_subreaper expected_codes; }

arguments_untouched() {
  local word=$'two\nlines \xff\xfe "quoted" $HOME *'
  run foster -- printf '<%s>' '' "$word" -- -s --help
  is "$output" "<><$word><--><-s><--help>"
  # Parsing ends at the program's name, even without --.
  run foster sh -c 'echo "$0 $*"' -c -g -- -x
  is "$output" "-c -g -- -x"
}
@test "spawn: arguments arrive byte for byte: as PID 1" { as_pid1 arguments_untouched; }
@test "spawn: arguments arrive byte for byte: as a subreaper" { as_subreaper arguments_untouched; }

environment_untouched() {
  export LATIN1=$'\xe4\xf6' EMPTY='' TINI_SUBREAPER=1
  FOSTER_OPTIONS=-s foster env -0 | sort -z >given
  env -0 | sort -z >wanted
  # A shell's own counters and last words differ.
  cmp <(grep -zv '^_=' given) <(grep -zv '^_=' wanted)
}
@test "spawn: the environment arrives but for FOSTER_OPTIONS: as PID 1" { as_pid1 environment_untouched; }
@test "spawn: the environment arrives but for FOSTER_OPTIONS: as a subreaper" { as_subreaper environment_untouched; }

own_group_same_session() {
  local pid parent group session init_session
  run foster "$PROBE" ids
  read -r pid parent group session <<<"$output"
  is "$group" "$pid"
  is "$parent" "$([[ $MODE == pid1 ]] && echo 1 || echo "$parent")"
  ((session != pid))
}
@test "spawn: the program leads a group of its own, in init's session: as PID 1" { as_pid1 own_group_same_session; }
@test "spawn: the program leads a group of its own, in init's session: as a subreaper" { as_subreaper own_group_same_session; }

working_directory_kept() {
  mkdir -p a/b
  cd a/b
  run foster pwd -P
  is "$output" "$(pwd -P)"
}
@test "spawn: the program runs in the working directory: as PID 1" { as_pid1 working_directory_kept; }
@test "spawn: the program runs in the working directory: as a subreaper" { as_subreaper working_directory_kept; }

# ---- Signals as they were

# The state of all 64 signals with and without init is the same. $1: how they
# are before.
signal_state_is_kept() {
  local command=("${INIT_COMMAND[@]}") how
  for how in block= block=all ignore=all "block=2,15,17,32,33,34,64 ignore=1,13" \
    "block=1,20 ignore=17,18,20,21,22,34,63" "ignore=17"; do
    # shellcheck disable=SC2086 # words
    "$PROBE" with $how "$PROBE" state >wanted
    INIT_COMMAND=("${command[@]}")
    # shellcheck disable=SC2086
    inside "$PROBE" with $how
    run foster "$PROBE" state
    is "$status" 0
    is "$how: $output" "$how: $(<wanted)"
  done
}
@test "spawn: mask and disposition of all 64 signals are init's own: as PID 1" { as_pid1 signal_state_is_kept; }
@test "spawn: mask and disposition of all 64 signals are init's own: as a subreaper" { as_subreaper signal_state_is_kept; }

ignored_sigchld_is_repaired() {
  inside "$PROBE" with ignore=17
  start "$PROBE" orphans 20
  ready
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$status" 0
  run foster sh -c 'exit 42'
  is "$status" 42
}
@test "spawn: an inherited ignored SIGCHLD loses no status: as PID 1" { as_pid1 ignored_sigchld_is_repaired; }
@test "spawn: an inherited ignored SIGCHLD loses no status: as a subreaper" { as_subreaper ignored_sigchld_is_repaired; }

# ---- Finding the program

path_is_searched() {
  mkdir -p one two three
  printf '#!/bin/sh\necho one\n' >one/program # not executable
  printf '#!/bin/sh\necho two\n' >two/program
  printf '#!/bin/sh\necho here\n' >three/program
  chmod +x two/program three/program
  # What can't be run is passed over if another can.
  PATH=/nowhere:$PWD/one:$PWD/two:$PATH run foster program
  is "$status" 0
  is "$output" two
  # If none can, that it was denied is what counts.
  PATH=/nowhere:$PWD/one:$PATH run foster program
  is "$status" 126
  # What is wrong with the file itself, as a link to itself, ends the search.
  mkdir loop
  ln -s program loop/program
  PATH=$PWD/loop:$PWD/two:$PATH run foster program
  is "$status" 126
  matches "$output" "^foster: $PWD/loop/program: "
  # An empty element is the current directory.
  cd three
  PATH=:$PATH run foster program
  is "$output" here
  PATH=$PATH: run foster program
  is "$output" here
  PATH=/nowhere::$PATH run foster program
  is "$output" here
  # A name with a slash is not searched for.
  run foster ./program
  is "$output" here
  PATH=$PWD/..:$PATH try foster three/program
  is "$status" 127
}
@test "spawn: PATH is searched as execvp does: as PID 1" { as_pid1 path_is_searched; }
@test "spawn: PATH is searched as execvp does: as a subreaper" { as_subreaper path_is_searched; }

cannot_be_run() {
  try foster no-such-program-anywhere
  is "$status" 127
  matches "$output" "^foster: .*no-such-program-anywhere"
  is "${#lines[@]}" 1
  try foster ./missing
  is "$status" 127
  try foster ''
  is "$status" 127
  run foster /
  is "$status" 126
  matches "$output" "^foster: /: "
  touch plain
  run foster ./plain
  is "$status" 126
  is "${#lines[@]}" 1
}
@test "spawn: 127 if not found, 126 if not runnable, one line: as PID 1" { as_pid1 cannot_be_run; }
@test "spawn: 127 if not found, 126 if not runnable, one line: as a subreaper" { as_subreaper cannot_be_run; }

text_without_shebang() {
  echo 'echo "$0: $*"; exit 9' >script
  chmod +x script
  run foster ./script a 'b c'
  is "$status" 9
  is "$output" "./script: a b c"
  PATH=$PWD:$PATH run foster script a
  is "$status" 9
  is "$output" "$PWD/script: a"
  # Binary rubbish is never given to a shell.
  printf 'echo no\0\n' >rubbish
  chmod +x rubbish
  run foster ./rubbish
  is "$status" 126
}
@test "spawn: a text without #! is run by /bin/sh: as PID 1" { as_pid1 text_without_shebang; }
@test "spawn: a text without #! is run by /bin/sh: as a subreaper" { as_subreaper text_without_shebang; }

without_shell() {
  requires pid_namespace
  export SEARCH=$PWD:$PWD/two
  local hide='mount -t tmpfs none /bin && PATH=$SEARCH exec "$@"'
  if [[ $MODE == pid1 ]]; then
    inside sh -c "$hide" sh
  else
    INIT_COMMAND=(unshare "${UNSHARE_FLAGS[0]/pf/m}" sh -c "$hide" sh
      "${INIT_COMMAND[@]}")
  fi
  echo 'echo hi' >script
  chmod +x script
  run foster ./script
  is "$status $output" "126 foster: ./script: has no '#!' line, and /bin/sh is missing"
  # It can't be run, so the search goes on, and the next one has its own name.
  mkdir two
  cp "$BASH" two/script
  # shellcheck disable=SC2016
  run foster script -c 'echo "$0"'
  is "$status $output" "0 script"
}
@test "spawn: a text without #! where there is no /bin/sh: as PID 1" { as_pid1 without_shell; }
@test "spawn: a text without #! where there is no /bin/sh: as a subreaper" { as_subreaper without_shell; }

a_bad_option_runs_nothing() {
  local arguments
  for arguments in --no-such-option -Z "-r XYZ:1" "-e 256" "-k -1" "-k x" ""; do
    # shellcheck disable=SC2086 # words
    run foster $arguments ${arguments:+touch ran}
    is "$arguments: $status" "$arguments: 125"
    matches "$output" '^foster: '
    is "${#lines[@]}" 1
  done
  FOSTER_OPTIONS='-k x' run foster touch ran
  is "$status" 125
  [[ ! -e ran ]]
}
@test "spawn: with a bad option nothing is run, and it is 125: as PID 1" { as_pid1 a_bad_option_runs_nothing; }
@test "spawn: with a bad option nothing is run, and it is 125: as a subreaper" { as_subreaper a_bad_option_runs_nothing; }

# Of `foster PROGRAM` and `sh -c 'exec foster PROGRAM'` the pid in them is ours.
activation_pids() {
  # $$ is what becomes init.
  inside sh -c 'LISTEN_PID=$$ WATCHDOG_PID=$$ LISTEN_FDS=1 exec "$@"' sh
  run foster "$PROBE" env LISTEN_PID WATCHDOG_PID LISTEN_FDS
  is "${lines[1]}" "LISTEN_PID=${lines[0]}"
  is "${lines[2]}" "WATCHDOG_PID=${lines[0]}"
  is "${lines[3]}" "LISTEN_FDS=1"
}
@test "spawn: LISTEN_PID and WATCHDOG_PID that named init name the program: as PID 1" { as_pid1 activation_pids; }
@test "spawn: LISTEN_PID and WATCHDOG_PID that named init name the program: as a subreaper" { as_subreaper activation_pids; }

activation_pids_of_others() {
  export LISTEN_PID=999999 WATCHDOG_PID=11
  run foster "$PROBE" env LISTEN_PID WATCHDOG_PID
  is "${lines[1]}" "LISTEN_PID=999999"
  is "${lines[2]}" "WATCHDOG_PID=11"
  unset LISTEN_PID WATCHDOG_PID
  run foster "$PROBE" env LISTEN_PID WATCHDOG_PID
  is "${lines[1]}" "LISTEN_PID is unset"
  is "${lines[2]}" "WATCHDOG_PID is unset"
}
@test "spawn: LISTEN_PID and WATCHDOG_PID of others are left alone: as PID 1" { as_pid1 activation_pids_of_others; }
@test "spawn: LISTEN_PID and WATCHDOG_PID of others are left alone: as a subreaper" { as_subreaper activation_pids_of_others; }

# ---- When things go wrong on the way

# strace can't fail a vfork under ASan, which makes its own.
# bats test_tags=not-asan
@test "spawn: a fork that fails is 125, in one line" {
  requires strace
  run strace -qq -o trace -e trace=vfork,clone,clone3,fork \
    -e inject=vfork,clone,clone3,fork:error=EAGAIN "$FOSTER" touch ran
  is "$status" 125
  matches "$output" '^foster: .*fork'
  is "${#lines[@]}" 1
  [[ ! -e ran ]]
}

killed_init_leaves_no_program() {
  start "$PROBE" signals
  ready
  local program
  program=$(entrypoint)
  signal KILL
  finish
  wait_until not_running "$program"
}
not_running() { [[ $(state_of "$1") == ["Z"] || ! -e /proc/$1 ]]; }
@test "spawn: if init is killed the program is too: as PID 1" { as_pid1 killed_init_leaves_no_program; }
@test "spawn: if init is killed the program is too: as a subreaper" { as_subreaper killed_init_leaves_no_program; }
@test "spawn: if init is killed the program is too: as neither" { as_plain killed_init_leaves_no_program; }
