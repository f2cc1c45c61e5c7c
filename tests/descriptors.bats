# Init keeps nothing that isn't its own; the program gets all that init was
# given.

load helpers

# What init has open: "N target" lines.
open_files() {
  local file
  for file in "/proc/$1/fd"/*; do
    echo "${file##*/} $(readlink "$file")"
  done | sort -n
}

keeps_only_its_own() {
  local line
  exec 5<"$PROBE" 7>given 200>given
  start "$PROBE" hold
  ready
  exec 5<&- 7>&- 200>&-
  # It says READY before init has come that far.
  wait_until stdin_is_closed
  wait_until is_settled
  while read -r line; do
    case $line in
    "2 $PWD/stderr") ;;
    *" anon_inode:[signalfd]" | *" /memfd:foster-status (deleted)") ((${line%% *} > 2)) ;;
    *) echo "not its own: $line" >&2 && return 1 ;;
    esac
  done < <(open_files "$INIT")
  is "$(readlink "/proc/$INIT/cwd")" /
  signal TERM
  finish
  is "$status" 143
}
stdin_is_closed() { [[ ! -e /proc/$INIT/fd/0 ]]; }
is_settled() { in_state "$INIT" S; }
@test "descriptors: init keeps stderr and its own, and stands in /: as PID 1" { as_pid1 keeps_only_its_own; }
@test "descriptors: init keeps stderr and its own, and stands in /: as a subreaper" { as_subreaper keeps_only_its_own; }
@test "descriptors: init keeps stderr and its own, and stands in /: as neither" { as_plain keeps_only_its_own; }

# The program's descriptors with and without init are the same, whichever of
# 0, 1 and 2 were closed at the start.
all_are_handed_on() {
  local command=("${INIT_COMMAND[@]}") closed
  exec 5<"$PROBE" 9>given
  for closed in '' 0 1 2 0,1 0,2 1,2 0,1,2; do
    "$PROBE" with "close=$closed" "$PROBE" descriptors "$PWD/wanted" \
      </dev/null >out 2>err 3>&-
    INIT_COMMAND=("${command[@]}")
    inside "$PROBE" with "close=$closed"
    foster "$PROBE" descriptors "$PWD/is" </dev/null >out 2>err 3>&-
    is "$closed: $(<is)" "$closed: $(<wanted)"
    # Nothing strays into what the program writes.
    [[ ! -s out && ! -s err ]]
  done
}
@test "descriptors: the program has the same as without init: as PID 1" { as_pid1 all_are_handed_on; }
@test "descriptors: the program has the same as without init: as a subreaper" { as_subreaper all_are_handed_on; }

none_of_init_s_is_below_three() {
  local closed command=("${INIT_COMMAND[@]}")
  for closed in 0 1 2 0,1,2; do
    INIT_COMMAND=("${command[@]}")
    inside "$PROBE" with "close=$closed"
    # So much to say, and in two cases nowhere to say it.
    start -vv "$PROBE" signals
    wait_until has_child
    local program
    program=$(entrypoint)
    wait_until waits_for_signals "$program"
    wait_until is_settled
    [[ ! -e /proc/$INIT/fd/0 && ! -e /proc/$INIT/fd/1 ]]
    if [[ $closed == *2* ]]; then
      [[ ! -e /proc/$INIT/fd/2 ]]
    fi
    signal TERM
    finish
    is "$status" 0
    if [[ $closed == *2* ]]; then
      is "$stderr" ""
    fi
  done
}
has_child() { [[ -n $(entrypoint) && $(readlink "/proc/$(entrypoint)/exe") == "$PROBE" ]]; }
# While it waits for all but SIGCHLD the kernel shows only that as blocked.
waits_for_signals() { grep -q '^SigBlk:.*0000000000010000$' "/proc/$1/status"; }
@test "descriptors: init's own are never 0, 1 or 2: as PID 1" { as_pid1 none_of_init_s_is_below_three; }
@test "descriptors: init's own are never 0, 1 or 2: as a subreaper" { as_subreaper none_of_init_s_is_below_three; }

# A reader of the program's output sees its end when the program closes it, not
# when the container is over. Nobody else has it open: not even unshare.
reader_sees_the_end() {
  mkfifo output
  cat output >copy 3>&- &
  local reader=$!
  inside sh -c 'exec "$@" >output' sh
  start sh -c 'echo all; exec >&-; exec "$1" signals' sh "$PROBE"
  wait_until gone "$reader"
  is "$(<copy)" all
  # Both are still there.
  exists "$INIT"
  wait_until waits_for_signals "$(entrypoint)"
  signal TERM
  finish
  is "$status" 0
}
@test "descriptors: a reader of the output sees its end: as PID 1" { as_pid1 reader_sees_the_end; }
@test "descriptors: a reader of the output sees its end: as a subreaper" { as_subreaper reader_sees_the_end; }

writer_sees_the_end() {
  mkfifo input
  # Opened for both, so that nobody waits for the other.
  exec 8<>input
  inside sh -c 'exec "$@" <input' sh
  start sh -c 'exec <&-; exec "$1" signals' sh "$PROBE" 8>&-
  ready
  # Now we alone have it open; as a writer without a reader we are told.
  exec 9>input 8>&-
  wait_until no_reader
  exec 9>&-
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
}
no_reader() {
  (
    trap '' PIPE
    ! printf x >&9
  ) 2>/dev/null
}
@test "descriptors: a writer to the input sees its end: as PID 1" { as_pid1 writer_sees_the_end; }
@test "descriptors: a writer to the input sees its end: as a subreaper" { as_subreaper writer_sees_the_end; }

input_is_the_program_s() {
  printf 'one\ntwo\n' >input
  STDIN=input start sh -c 'read a; read b; echo "$b $a"; echo READY; exec "$1" hold' \
    sh "$PROBE"
  expect "two one"
  ready
  ready
  signal TERM
  finish
  is "$status" 143
}
@test "descriptors: the input is the program's alone: as PID 1" { as_pid1 input_is_the_program_s; }
@test "descriptors: the input is the program's alone: as a subreaper" { as_subreaper input_is_the_program_s; }

# Where close_range(2) is missing they are closed one by one.
without_close_range() {
  requires strace
  WRAPPER=(strace -f -qq -o trace -e trace=close_range
    -e inject=close_range:error=ENOSYS)
  exec 5<"$PROBE" 200>given
  start "$PROBE" hold
  ready
  exec 5<&- 200>&-
  wait_until stdin_is_closed
  wait_until is_settled_under_strace
  [[ ! -e /proc/$INIT/fd/1 && ! -e /proc/$INIT/fd/5 && ! -e /proc/$INIT/fd/200 ]]
  signal TERM
  finish
  is "$status" 143
  grep -q INJECTED trace
}
is_settled_under_strace() { [[ ! -e /proc/$INIT/fd/200 ]] && in_state "$INIT" S; }
@test "descriptors: without close_range they are closed as well: as PID 1" { as_pid1 without_close_range; }
@test "descriptors: without close_range they are closed as well: as a subreaper" { as_subreaper without_close_range; }

without_any_descriptor() {
  inside sh -c 'ulimit -n 3; exec "$@"' sh
  run foster touch ran
  is "$status" 125
  matches "$output" '^foster: cannot receive signals: too many open files$'
  is "${#lines[@]}" 1
  [[ ! -e ran ]]
}
# The sanitizers' own need some.
# bats test_tags=not-asan
@test "descriptors: with none left it is 125, and nothing is run: as PID 1" { as_pid1 without_any_descriptor; }
# bats test_tags=not-asan
@test "descriptors: with none left it is 125, and nothing is run: as a subreaper" { as_subreaper without_any_descriptor; }
