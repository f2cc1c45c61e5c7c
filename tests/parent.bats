# -p: when init's parent dies the program is told, and init is not left alone
# for longer than the grace period.

load helpers

# Init's parent is a process that can be killed without harm to anybody else.
with_parent() {
  if [[ $MODE == pid1 ]]; then
    # unshare itself, but without --kill-child; outside of the namespace.
    INIT_COMMAND=(unshare "${UNSHARE_FLAGS[@]/--kill-child/--propagation=private}"
      "$FOSTER")
  fi
  WRAPPER=("${WRAPPER[@]}" sh -c '"$@" & wait' sh)
}

parent_of() {
  local stat _
  stat=$(<"/proc/$1/stat")
  read -r _ stat _ <<<"${stat##*)}"
  echo "$stat"
}

kill_parent() {
  local parent
  parent=$(parent_of "$INIT")
  # Neither the test itself nor the machine's init.
  [[ $parent != "$$" && $parent != "$BASHPID" && $parent != 1 ]]
  kill -KILL "$parent"
}

init_is_gone() { [[ ! -e /proc/$INIT || $(state_of "$INIT") == Z ]]; }

program_is_told() {
  with_parent
  start -p USR1 "$PROBE" signals 10
  ready
  kill_parent
  expect "program 10 user 0"
  wait_until init_is_gone
}
@test "parent: its death is told with the signal that was asked for: as PID 1" { as_pid1 program_is_told; }
@test "parent: its death is told with the signal that was asked for: as a subreaper" { as_subreaper program_is_told; }
@test "parent: its death is told with the signal that was asked for: as neither" { as_plain program_is_told; }

# Deaf or not, all is gone when the grace period is over, and not before.
everything_ends() {
  with_parent
  start -p HUP -k 1 sh -c '"$1" daemon "$1" ignore all; exec "$1" ignore all' \
    sh "$PROBE"
  ready
  ready
  local program begin took
  program=$(entrypoint)
  begin=$(clock)
  kill_parent
  wait_until gone_for_good "$program"
  took=$((($(clock) - begin) / 1000))
  echo "took $took ms"
  ((took >= 990))
  wait_until init_is_gone
}
gone_for_good() { [[ ! -e /proc/$1 || $(state_of "$1") == Z ]]; }
@test "parent: after its death all is gone with the grace period: as PID 1" { as_pid1 everything_ends; }
@test "parent: after its death all is gone with the grace period: as a subreaper" { as_subreaper everything_ends; }

# With -P there is nobody to tell: it is the stop that the pause waits for.
pause_ends() {
  with_parent
  start -P -p USR1 -R report
  wait_until init_pauses
  kill_parent
  wait_until init_is_gone
  matches "$(<report)" '"exit_code":0,'
}
init_pauses() { [[ $("$FOSTER" --status="$INIT" 2>&1) == *'"state":"paused"'* ]]; }
@test "parent: its death ends a pause: as PID 1" { as_pid1 pause_ends; }
@test "parent: its death ends a pause: as a subreaper" { as_subreaper pause_ends; }
@test "parent: its death ends a pause: as neither" { as_plain pause_ends; }

# It died after init looked who it is, and before the kernel would tell.
dead_already() {
  requires strace
  # As a grandchild of the parent, strace has no part in the family.
  INIT_COMMAND=(strace -D -q -o trace -e "trace=getppid,prctl"
    -e inject=getppid:signal=STOP:when=1 "$FOSTER")
  with_parent
  start "$@" -p 10 touch ran
  wait_until grep -q 'stopped by SIGSTOP' trace
  is "$(grep -c PR_SET_PDEATHSIG trace)" 0
  local parent
  parent=$(parent_of "$INIT")
  kill_parent
  wait_until has_another_parent "$parent"
  signal CONT
  wait_until init_is_gone
  [[ ! -e ran ]]
  wait_until gone "$JOB"
  wait_until grep -q '^+++ exited with 138 +++' trace
}
has_another_parent() { [[ $(parent_of "$INIT") != "$1" ]]; }
@test "parent: if it is dead already nothing is run: as a subreaper" { as_plain dead_already -s; }
@test "parent: if it is dead already nothing is run: as neither" { as_plain dead_already; }

# Go and Node start processes from threads that end long before they do.
thread_ends() {
  WRAPPER=("$PROBE" thread)
  start -p TERM "$PROBE" signals
  ready
  [[ $(parent_of "$INIT") == "$JOB" ]]
  # The kernel sends its signal as part of the thread's end, so before this is
  # over; what is sent then comes later.
  kill -USR1 "$JOB"
  wait_until one_thread_is_left
  signal USR1
  expect "program 10 user 0"
  signal TERM
  expect "program 15 user 0"
  finish_by_pid
}
one_thread_is_left() { [[ $(echo /proc/"$JOB"/task/*) == /proc/$JOB/task/$JOB ]]; }
finish_by_pid() {
  wait_until init_is_gone
  kill -KILL "$JOB" 2>/dev/null || :
  wait "$JOB" 2>/dev/null || :
}
@test "parent: the end of its thread alone is not its death: as a subreaper" { as_subreaper thread_ends; }
@test "parent: the end of its thread alone is not its death: as neither" { as_plain thread_ends; }

# The signal by which the kernel tells init is everybody's otherwise. As PID 1
# no parent and no sender can be seen, so there it is believed.
all_signals_with_p() {
  start -p TERM "$PROBE" signals
  ready
  local sig
  for sig in {34..64}; do
    [[ $sig != 63 || $MODE != pid1 ]] || continue
    "$PROBE" send "$INIT" "$sig"
    expect "program $sig user 0"
  done
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
}
@test "parent: with -p all other real-time signals are forwarded: as PID 1" { as_pid1 all_signals_with_p; }
@test "parent: with -p all real-time signals are forwarded: as a subreaper" { as_subreaper all_signals_with_p; }

without_p() {
  with_parent
  start "$PROBE" signals
  ready
  kill_parent
  signal USR1
  expect "program 10 user 0"
  signal TERM
  expect "program 15 user 0"
  wait_until init_is_gone
}
@test "parent: without -p its death changes nothing: as PID 1" { as_pid1 without_p; }
@test "parent: without -p its death changes nothing: as a subreaper" { as_subreaper without_p; }
