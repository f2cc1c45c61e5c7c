# The drain and what may happen meanwhile, each of the orders that matter forced;
# tests/model/foster.pml goes through all of them.

load helpers
load drain

# It adopts at a time when nothing tells it: the one that dies is not its child.
silent_adoption() {
  leave '"$P" daemon "$P" ignore 15 "$P" adoption' -k 60
  ready
  wait_until children_of_are "$INIT" 2
  local pid
  pid=$(last_child "$INIT")
  entrypoint_ends
  # Now the lists are as far apart as they get.
  wait_until passed 1000
  "$PROBE" send "$pid" 10
  expect_all orphaned "grandchild told by its parent"
  took 1000 20000
  kill -KILL "$pid"
  finish
  is "$status" 7
  is "$stderr" ""
}
@test "orderings: who is adopted without a SIGCHLD is told soon: as PID 1" { as_pid1 silent_adoption; }
@test "orderings: who is adopted without a SIGCHLD is told soon: as a subreaper" { as_subreaper silent_adoption; }

@test "orderings: a child that dies between the list and the signal is no harm" {
  requires strace
  as_subreaper
  WRAPPER=(strace -qq -o trace -e trace=kill
    -e inject=kill:delay_enter=4000000:when=1)
  leave '"$P" daemon "$P" told child' -k 60
  ready
  wait_until children_of_are "$INIT" 2
  local pid
  pid=$(last_child "$INIT")
  entrypoint_ends
  wait_until grep -q "kill($pid, SIGTERM" trace
  "$PROBE" send "$pid" 10
  wait_until in_state "$pid" Z
  finish
  is "$status" 7
  is "$stderr" ""
  # It was still its number: the signals reached a zombie.
  grep -q "kill($pid, SIGTERM).* = 0" trace
}

# Init sleeps over its deadline, and the last child's end comes with it.
deadline_with_the_last_end() {
  leave '"$P" told first & "$P" ignore 15 &' -k 6
  ready
  ready
  local pids pid
  pids=$(children "$(entrypoint)")
  entrypoint_ends
  expect "first told by its parent"
  kill -STOP "$INIT"
  wait_until in_state "$INIT" T
  for pid in $pids; do
    [[ $(state_of "$pid") == Z ]] || kill -USR1 "$pid" 2>/dev/null || :
  done
  wait_until passed 6500
  kill -CONT "$INIT"
  finish
  is "$status" 7
  is "$stderr" ""
}
@test "orderings: an end that comes with the deadline is not taken for a kill: as PID 1" { as_pid1 deadline_with_the_last_end; }
@test "orderings: an end that comes with the deadline is not taken for a kill: as a subreaper" { as_subreaper deadline_with_the_last_end; }

# Of one read: the group still gets the signal, once.
death_and_stop_in_one_read() {
  leave '"$P" signals 10 &' -k 60
  ready
  local pid
  pid=$(first_child "$(entrypoint)")
  begin=$(clock)
  kill -STOP "$INIT"
  wait_until in_state "$INIT" T
  kill -KILL "$(entrypoint)"
  signal TERM
  kill -CONT "$INIT"
  expect "program 15 user 0"
  expect "program 18 user 0"
  wait_until passed 1000
  expect_nothing_more
  "$PROBE" send "$pid" 10
  expect "program 10 user 0"
  finish
  is "$status" 137
}
@test "orderings: the entrypoint's death and a stop signal in one read: as PID 1" { as_pid1 death_and_stop_in_one_read; }
@test "orderings: the entrypoint's death and a stop signal in one read: as a subreaper" { as_subreaper death_and_stop_in_one_read; }

reaped() { ! exists "$1"; }
@test "orderings: a stop signal between the entrypoint's death and the drain ends nothing" {
  requires strace
  as_subreaper
  # The first waitid is that before the spawn.
  WRAPPER=(strace -qq -o trace -e trace=waitid
    -e inject=waitid:delay_enter=1000000:when=2)
  leave '"$P" ignore 15 &' -k 4
  ready
  local pid
  pid=$(entrypoint)
  entrypoint_ends
  wait_until reaped "$pid"
  signal TERM
  finish
  took 4000 20000
  is "$status" 7
  killed 1 probe
}

# Children come between the list and the wait: each wait is slow.
@test "orderings: adoptions between the list and the wait are told" {
  requires strace
  as_subreaper
  WRAPPER=(strace -qq -o /dev/null -e trace=wait4
    -e inject=wait4:delay_enter=100000)
  leave '"$P" daemon "$P" heirs 5' -k 60
  ready
  entrypoint_ends
  expect_all heir heir heir heir heir last
  finish
  is "$status" 7
  is "$stderr" ""
}

# Without /proc the pids are tried one by one: the grace period is over before
# the child's turn comes.
# Without it the sanitizers read no options, and warn: not-asan.
# bats test_tags=not-asan
@test "orderings: a list that the deadline cuts short does not mean that nobody is left" {
  requires pid_namespace
  run unshare "${UNSHARE_FLAGS[@]}" sh -c '
    echo 30000 >/proc/sys/kernel/ns_last_pid
    mount -t tmpfs none /proc
    pid=$("$1" -s -k 0.001 -- sh -c "sleep 100 >/dev/null 2>&1 & echo \$!")
    [ "$pid" -gt 30000 ] || exit
    if kill -0 "$pid" 2>/dev/null; then echo "$pid lives"; fi' sh "$FOSTER"
  is "$status" 0
  is "$output" "foster: killed 1 that had not ended in time: ${output##*: }"
}

# Init gets no time to run for two seconds after each death: that is no sign
# that the rest cannot be killed.
@test "orderings: killing is not given up because init has to wait" {
  requires strace
  as_subreaper
  WRAPPER=(strace -qq -o /dev/null -e trace=poll
    -e inject=poll:delay_enter=2100000)
  # Each is adopted only when the one above it is dead: of so many, not all are
  # while one list is read.
  echo 'n=$2; if [ $((n -= 1)) = 0 ]; then exec "$1" hold; fi
    sh nest "$1" "$n" & wait' >nest
  leave 'sh nest "$P" 6 &' -k 0
  ready
  entrypoint_ends
  finish
  is "$status" 7
  matches "$stderr" '^foster: killed 6 that had not ended in time: [^:]*$'
}
