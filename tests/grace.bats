# The drain's grace period: what ends it, and who is killed then.

load helpers
load drain

ignoring() {
  leave '"$P" ignore 15 & "$P" daemon "$P" ignore 15' -k 2
  ready
  ready
  entrypoint_ends
  finish
  took 2000 12000
  is "$status" 7
  killed 2 probe probe
}
@test "grace: who ignores SIGTERM is killed after the grace period: as PID 1" { as_pid1 ignoring; }
@test "grace: who ignores SIGTERM is killed after the grace period: as a subreaper" { as_subreaper ignoring; }

many_ignoring() {
  leave 'for i in 1 2 3 4 5 6 7; do "$P" ignore 15 & done' -k 0.5
  expect_all READY READY READY READY READY READY READY
  entrypoint_ends
  finish
  is "$status" 7
  took 500 10000
  matches "$stderr" '^foster: killed 7 that .*: ([0-9]+ \(probe\), ){5}\.\.\.$'
  is "$(wc -l <stderr)" 1
}
@test "grace: of many that are killed five are named: as PID 1" { as_pid1 many_ignoring; }
@test "grace: of many that are killed five are named: as a subreaper" { as_subreaper many_ignoring; }

slow() {
  leave '"$P" daemon "$P" slow 1500' -k 60
  ready
  entrypoint_ends
  expect "slow told by its parent"
  expect "finished"
  finish
  took 1500 25000
  is "$status" 7
  is "$stderr" ""
}
@test "grace: who ends within the grace period is left to: as PID 1" { as_pid1 slow; }
@test "grace: who ends within the grace period is left to: as a subreaper" { as_subreaper slow; }

at_once() {
  leave '"$P" daemon "$P" told child' -k 0
  ready
  entrypoint_ends
  finish
  took 0 10000
  expect_nothing_more
  is "$status" 7
  killed 1 probe
}
@test "grace: with -k 0 they are killed untold: as PID 1" { as_pid1 at_once; }
@test "grace: with -k 0 they are killed untold: as a subreaper" { as_subreaper at_once; }

stop_again() {
  leave '"$P" ignore 15 &' -k "$1"
  ready
  entrypoint_ends
  wait_until passed 3000
  exists "$INIT"
  signal TERM
  finish
  took 3000 20000
  is "$status" 7
  killed 1 probe
}
@test "grace: a stop signal ends the grace period: as PID 1" { as_pid1 stop_again 60; }
@test "grace: a stop signal ends the grace period: as a subreaper" { as_subreaper stop_again 60; }
@test "grace: a stop signal ends a grace period without end: as PID 1" { as_pid1 stop_again inf; }
@test "grace: a stop signal ends a grace period without end: as a subreaper" { as_subreaper stop_again inf; }

echoes() {
  leave '"$P" told first & "$P" ignore 15 &' -k 4
  ready
  ready
  entrypoint_ends
  expect "first told by its parent"
  signal TERM
  signal INT TERM
  finish
  took 4000 15000
  is "$status" 7
  killed 1 probe
}
@test "grace: stop signals in its first second end nothing: as PID 1" { as_pid1 echoes; }
@test "grace: stop signals in its first second end nothing: as a subreaper" { as_subreaper echoes; }

# As timeout(1) and systemd send it.
stop_twice() {
  leave 'trap "exit 7" TERM; "$P" ignore 15 &' -k 4
  ready
  begin=$(clock)
  signal TERM TERM CONT
  finish
  took 4000 15000
  is "$status" 7
  killed 1 probe
}
@test "grace: a stop signal that comes twice at once is one: as PID 1" { as_pid1 stop_twice; }
@test "grace: a stop signal that comes twice at once is one: as a subreaper" { as_subreaper stop_twice; }
