# Asked to stop: -t and -p.

load helpers
load drain

# ---- -t

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
  took 0 20000
  is "$(<stderr)" ""
}
@test "stop: -p forwards its signal, and ends with the program: as PID 1" { as_pid1 parent_killed_and_program_ends; }
@test "stop: -p forwards its signal, and ends with the program: as a subreaper" { as_subreaper parent_killed_and_program_ends; }
