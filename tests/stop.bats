# Asked to stop: -t, -p, -P, and what a stop signal makes of the drain's
# deadline.

load helpers
load drain

# ---- The drain's deadline, if a stop signal came before.

# The sum of both would be 16 s: kill-after counts from the signal.
counted_from_the_signal() {
  leave 'trap : TERM; "$P" daemon "$P" ignore 15' -k 9
  ready
  begin=$(clock)
  signal TERM
  wait_until passed 7000
  local begin_of_stop=$begin
  entrypoint_ends
  begin=$begin_of_stop
  finish
  took 9000 15500
  is "$status" 7
  killed 1 probe
}
@test "stop: the grace period counts from the stop signal: as PID 1" { as_pid1 counted_from_the_signal; }
@test "stop: the grace period counts from the stop signal: as a subreaper" { as_subreaper counted_from_the_signal; }

at_least_a_second() {
  leave 'trap : TERM; "$P" daemon "$P" ignore 15' -k 8
  ready
  begin=$(clock)
  signal TERM
  wait_until passed 8500
  entrypoint_ends
  finish
  took 1000 7800
  is "$status" 7
  killed 1 probe
}
@test "stop: after the entrypoint's end there is still a second: as PID 1" { as_pid1 at_least_a_second; }
@test "stop: after the entrypoint's end there is still a second: as a subreaper" { as_subreaper at_least_a_second; }

# One that was dropped is none.
dropped() {
  leave '"$P" daemon "$P" ignore 15' -k 3 -r TERM:0
  ready
  signal TERM
  begin=$(clock)
  wait_until passed 1500
  entrypoint_ends
  wait_until passed 1200
  signal TERM
  finish
  took 3000 12000
  is "$status" 7
  killed 1 probe
}
@test "stop: a stop signal that is dropped starts and ends nothing: as PID 1" { as_pid1 dropped; }
@test "stop: a stop signal that is dropped starts and ends nothing: as a subreaper" { as_subreaper dropped; }

# ---- -t

# Whichever reading of it: a deadline that is counted from 0 would be over.
@test "stop: a clock that fails once ends nobody early" {
  requires strace
  as_subreaper
  local number pid
  for number in {1..6}; do
    WRAPPER=(strace -qq -o /dev/null -e trace=clock_gettime
      -e "inject=clock_gettime:error=EINVAL:when=$number")
    start -t 60 "$PROBE" signals 10
    ready
    pid=$(entrypoint)
    signal TERM
    expect "program 15 user 0"
    "$PROBE" send "$pid" 10
    expect "program 10 user 0"
    finish
    is "$status" 0
    is "$stderr" ""
  done
}

stop_timeout() {
  start -t 9 "$PROBE" ignore 2,15
  ready
  begin=$(clock)
  signal "$1"
  # It counts from the first.
  wait_until passed 6500
  signal "$1"
  finish
  took 9000 15400
  is "$status" 137
  matches "$stderr" "^foster: process [0-9]+ has not ended in time: sending SIGKILL\$"
}
@test "stop: -t kills an entrypoint that ignores SIGTERM: as PID 1" { as_pid1 stop_timeout TERM; }
@test "stop: -t kills an entrypoint that ignores SIGTERM: as a subreaper" { as_subreaper stop_timeout TERM; }
@test "stop: -t kills an entrypoint that ignores SIGTERM: as neither" { as_plain stop_timeout TERM; }
@test "stop: -t kills an entrypoint that ignores SIGINT: as neither" { as_plain stop_timeout INT; }

stop_in_time() {
  start -t 60 "$PROBE" slow 300
  ready
  signal TERM
  expect "slow told by its parent"
  expect finished
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "stop: -t lets an entrypoint end in time: as PID 1" { as_pid1 stop_in_time; }
@test "stop: -t lets an entrypoint end in time: as a subreaper" { as_subreaper stop_in_time; }

other_signals() {
  start -t 0.2 -r TERM:0 "$PROBE" signals 10
  ready
  begin=$(clock)
  signal HUP TERM
  expect "program 1 user 0"
  wait_until passed 1000
  signal USR1
  expect "program 10 user 0"
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "stop: other signals, and dropped ones, don't start -t: as PID 1" { as_pid1 other_signals; }
@test "stop: other signals, and dropped ones, don't start -t: as a subreaper" { as_subreaper other_signals; }

# ---- -p

# start_by_parent COMMAND...: as `start`, with a shell between, which is killed
# by parent_dies.
start_by_parent() {
  INIT_COMMAND=(sh -c '"$@" & wait' sh "${INIT_COMMAND[@]}")
  start "$@"
}
parent_dies() {
  local parent
  parent=$(grep -Eo 'PPid:.*' "/proc/$INIT/status")
  begin=$(clock)
  kill -KILL "${parent#PPid:?}"
}

parent_killed() {
  start_by_parent -p TERM -k 2 sh -c 'trap "" TERM
    "$1" told orphan & "$1" ignore 15 & setsid -f "$1" ignore 15
    exec "$1" hold' sh "$PROBE"
  expect_all READY READY READY READY
  local pid=$INIT
  parent_dies
  # In the group it gets the forwarded signal; it is of init's.
  next_line
  matches "$line" "^orphan told by "
  wait_until gone "$pid"
  took 2000 12000
  wait_until nothing_left
  matches "$(<stderr)" "^foster: process [0-9]+ has not ended in time: sending SIGKILL"
}
@test "stop: -p leaves nothing when the parent was killed: as PID 1" { as_pid1 parent_killed; }
@test "stop: -p leaves nothing when the parent was killed: as a subreaper" { as_subreaper parent_killed; }

parent_killed_and_program_ends() {
  start_by_parent -p INT -k 60 "$PROBE" signals 2
  ready
  local pid=$INIT
  parent_dies
  expect "program 2 user 0"
  wait_until gone "$pid"
  took 0 50000
  is "$(<stderr)" ""
}
@test "stop: -p forwards its signal, and ends with the program: as PID 1" { as_pid1 parent_killed_and_program_ends; }
@test "stop: -p forwards its signal, and ends with the program: as a subreaper" { as_subreaper parent_killed_and_program_ends; }
@test "stop: -p forwards its signal, and ends with the program: as neither" { as_plain parent_killed_and_program_ends; }

@test "stop: -p believes no signal from anybody but the kernel" {
  as_subreaper
  start_by_parent -p TERM "$PROBE" signals 15
  ready
  "$PROBE" send "$INIT" 63
  expect "program 63 user 0"
  signal TERM
  expect "program 15 user 0"
  finish
}

@test "stop: a parent that dies before the call for -p: nothing is run" {
  requires strace
  as_subreaper
  # Stopped when it has looked who its parent is. As a grandchild of that,
  # strace has no part in the family.
  INIT_COMMAND=(strace -D -q -o trace -e "trace=getppid,prctl"
    -e inject=getppid:signal=STOP:when=1 "$FOSTER" -s)
  start_by_parent -p TERM sh -c 'echo ran'
  local pid=$INIT parent
  wait_until grep -q 'stopped by SIGSTOP' trace
  is "$(grep -c PR_SET_PDEATHSIG trace)" 0
  parent=$(grep PPid: "/proc/$pid/status")
  parent_dies
  wait_until eval '[[ $(grep PPid: "/proc/$pid/status") != "$parent" ]]'
  kill -CONT "$pid"
  wait_until gone "$pid"
  expect_nothing_more
  is "$(<stderr)" "foster: -p: the parent is dead already"
  wait_until grep -q 'exited with 143' trace
}

# ---- init is killed

@test "stop: with -s the entrypoint dies with init" {
  as_subreaper
  start "$PROBE" ignore 15
  ready
  local pid
  pid=$(entrypoint)
  signal KILL
  finish
  is "$status" 137
  wait_until gone "$pid"
}

# ---- -P

pause() {
  start -P -k 60
  wait_until eval '"$FOSTER" --status="$INIT" | grep -q paused'
  signal "$1"
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "stop: -P runs until SIGTERM: as PID 1" { as_pid1 pause TERM; }
@test "stop: -P runs until SIGTERM: as a subreaper" { as_subreaper pause TERM; }
@test "stop: -P runs until SIGINT: as PID 1" { as_pid1 pause INT; }
@test "stop: -P runs until SIGINT: as a subreaper" { as_subreaper pause INT; }

# A child from before, which is not told, leaves init an orphan, which is.
pause_drains() {
  mkfifo gate
  local before='(read -r _ <gate; "$PROBE" daemon "$PROBE" told child
    "$PROBE" daemon "$PROBE" ignore 15; read -r _ <gate) & exec "$@"'
  if [[ $MODE == pid1 ]]; then
    inside sh -c "$before" sh
  else
    INIT_COMMAND=(sh -c "$before" sh "${INIT_COMMAND[@]}")
  fi
  start -P -k 2
  # Who comes before that is somebody else's.
  wait_until eval '"$FOSTER" --status="$INIT" | grep -q paused'
  local fd
  exec {fd}<>gate
  echo >&"$fd"
  ready
  ready
  wait_until children_of_are "$INIT" 3
  begin=$(clock)
  signal TERM
  expect "child told by its parent"
  finish
  took 2000 12000
  echo >&"$fd"
  is "$status" 0
  killed 1 probe
}
@test "stop: -P drains: as PID 1" { as_pid1 pause_drains; }
@test "stop: -P drains: as a subreaper" { as_subreaper pause_drains; }
