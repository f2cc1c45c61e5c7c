# Odd entrypoints and children; see also reap.bats.

load helpers
load drain

# ---- The entrypoint

execs_itself() {
  # Some seconds; on a very busy machine minutes.
  PATIENCE=600
  start "$PROBE" with block=all sh -c 'echo blocked; exec "$@"' sh \
    "$PROBE" again "$1" "$PROBE" signals
  expect blocked
  signal USR1 WINCH
  ready
  expect "program 10 user 0"
  expect "program 28 user 0"
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "odd: an entrypoint that execs itself 10,000 times: as PID 1" { as_pid1 execs_itself 10000; }
@test "odd: an entrypoint that execs itself 1,000 times: as a subreaper" { as_subreaper execs_itself 1000; }

# It may be told before it runs its program: the signal waits for it.
daemon_at_once() {
  start -k 60 "$PROBE" with block=15 "$PROBE" daemon "$PROBE" told
  ready
  expect "child told by its parent"
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "odd: an entrypoint that becomes a daemon at once: as PID 1" { as_pid1 daemon_at_once; }
@test "odd: an entrypoint that becomes a daemon at once: as a subreaper" { as_subreaper daemon_at_once; }

moved() {
  start -k 60 "$PROBE" moves "$1" "$PROBE" signals
  ready
  signal USR1
  expect "program 10 user 0"
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "odd: an entrypoint that changes its group: as PID 1" { as_pid1 moved group; }
@test "odd: an entrypoint that changes its group: as a subreaper" { as_subreaper moved group; }
# Nobody but init could resume it there.
stops_elsewhere() {
  start "$PROBE" moves group sh -c 'kill -TSTP $$; echo resumed'
  expect resumed
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "odd: a stop in another group does not last: as PID 1" { as_pid1 stops_elsewhere; }
@test "odd: an entrypoint that changes its session: as PID 1" { as_pid1 moved session; }
@test "odd: an entrypoint that changes its session: as a subreaper" { as_subreaper moved session; }

# Its main thread has ended: the process runs, and its signals reach it.
leader_is_dead() {
  start "$PROBE" leader
  ready
  in_state "$(entrypoint)" Z
  no_wakeup
  signal TERM
  finish
  is "$status" 143
}
@test "odd: an entrypoint whose main thread has ended: as PID 1" { as_pid1 leader_is_dead; }
@test "odd: an entrypoint whose main thread has ended: as a subreaper" { as_subreaper leader_is_dead; }

# trace PID: by a process that is none of init's, which TRACER is.
trace() {
  "$PROBE" trace "$1" >tracer 2>&1 3>&- {STDOUT}>&- &
  TRACER=$!
  wait_until grep -q READY tracer
}
end_tracer() {
  kill -KILL "$TRACER"
  wait "$TRACER" || :
}

# Its tracer has the first claim on what becomes of it.
traced_entrypoint() {
  start "$PROBE" hold
  ready
  trace "$(entrypoint)"
  signal TERM
  wait_until in_state "$(entrypoint)" t
  no_wakeup
  end_tracer
  finish
  is "$status" 143
}
@test "odd: a traced entrypoint: as PID 1" { as_pid1 traced_entrypoint; }
@test "odd: a traced entrypoint: as a subreaper" { as_subreaper traced_entrypoint; }

stopped_entrypoint_is_killed() {
  start -t 0.2 "$PROBE" hold
  ready
  kill -STOP "$(entrypoint)"
  wait_until in_state "$(entrypoint)" T
  signal TERM
  finish
  is "$status" 137
  matches "$stderr" "^foster: process [0-9]+ has not ended in time: sending SIGKILL\$"
}
@test "odd: a stopped entrypoint is killed in the end (-t): as PID 1" { as_pid1 stopped_entrypoint_is_killed; }
@test "odd: a stopped entrypoint is killed in the end (-t): as a subreaper" { as_subreaper stopped_entrypoint_is_killed; }

# ---- What it leaves behind

# Killed, but a zombie that its tracer does not let go: not waited for for ever.
traced_orphan() {
  leave '"$P" daemon "$P" hold &' -k 0.1
  ready
  wait_until children_of_are "$INIT" 2
  local orphan
  orphan=$(last_child "$INIT")
  trace "$orphan"
  entrypoint_ends
  finish
  end_tracer
  is "$status" 7
  matches "$stderr" "$1"
}
# The kernel, too, waits at the end of a PID namespace for all that are in it.
@test "odd: the drain leaves a zombie to its tracer: as a subreaper" {
  as_subreaper traced_orphan '^foster: some processes cannot be killed: leaving them$'
}

stopped_orphan() {
  leave '"$P" daemon "$P" told' -k 60
  ready
  wait_until children_of_are "$INIT" 2
  kill -STOP "$(last_child "$INIT")"
  wait_until in_state "$(last_child "$INIT")" T
  entrypoint_ends
  expect "child told by its parent"
  finish
  is "$status" 7
  is "$stderr" ""
}
@test "odd: the drain continues who was stopped: as PID 1" { as_pid1 stopped_orphan; }
@test "odd: the drain continues who was stopped: as a subreaper" { as_subreaper stopped_orphan; }
