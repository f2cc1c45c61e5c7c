# Every orphan is reaped, however it came and whatever it was.

load helpers

orphans_are_reaped() {
  start "$PROBE" orphans 3000
  PATIENCE=200 ready
  wait_until children_of_are "$INIT" 1
  is "$(zombies_of "$INIT")" 0
  signal TERM
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "reap: 3,000 double-forked orphans: as PID 1" { as_pid1 orphans_are_reaped; }
@test "reap: 3,000 double-forked orphans: as a subreaper" { as_subreaper orphans_are_reaped; }

# However many end at once, there is one SIGCHLD.
coalesced_sigchld() {
  start "$PROBE" orphans 200 held
  ready
  wait_until children_of_are "$INIT" 201
  kill -STOP "$INIT"
  wait_until in_state "$INIT" T
  "$PROBE" send "$(entrypoint)" 10
  wait_until zombies_are 200
  kill -CONT "$INIT"
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$status" 0
}
zombies_are() { [[ $(zombies_of "$INIT") -eq $1 ]]; }
@test "reap: 200 that end at once, with one SIGCHLD: as PID 1" { as_pid1 coalesced_sigchld; }
@test "reap: 200 that end at once, with one SIGCHLD: as a subreaper" { as_subreaper coalesced_sigchld; }

# Else a storm of orphans would hold up the signals: with so many zombies init
# looks for signals after every 64 waits.
looks_at_signals_in_between() {
  requires strace
  WRAPPER=(strace -f -qq -o trace -e "trace=wait4,read,poll")
  start "$PROBE" orphans 500 held
  ready
  wait_until children_of_are "$INIT" 501
  kill -STOP "$INIT"
  "$PROBE" send "$(entrypoint)" 10
  wait_until zombies_are 500
  kill -CONT "$INIT"
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$status" 0
  local most
  most=$(awk -v init="$INIT" '
    $1 != init { next }
    /wait4\(/ { if (++n > most) most = n }
    /(read|poll)\(/ { n = 0 }
    END { print most }' trace)
  echo "$most waits in a row"
  # It is a number that was looked at, and batches are made use of.
  ((most >= 32 && most <= 64))
}
@test "reap: at most 64 waits before the next look at the signals: as PID 1" { as_pid1 looks_at_signals_in_between; }
@test "reap: at most 64 waits before the next look at the signals: as a subreaper" { as_subreaper looks_at_signals_in_between; }

# The program and 200 orphans in one go: the status is the program's.
all_end_at_once() {
  start sh -c 'probe=$1
    "$probe" orphans 200 held &
    trap "kill -USR1 $!; kill -TERM $!; exit 33" TERM
    while :; do wait; done' sh "$PROBE"
  ready
  signal TERM
  finish
  is "$status" 33
}
@test "reap: the status is the program's when all end at once: as PID 1" { as_pid1 all_end_at_once; }
@test "reap: the status is the program's when all end at once: as a subreaper" { as_subreaper all_end_at_once; }

orphan_with_another_exit_signal() {
  start "$PROBE" clone "$1"
  ready
  wait_until children_of_are "$INIT" 2
  kill -KILL "$(last_child "$INIT")"
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$status" 143
}
@test "reap: an orphan with exit signal SIGUSR1: as PID 1" { as_pid1 orphan_with_another_exit_signal 10; }
@test "reap: an orphan with exit signal SIGUSR1: as a subreaper" { as_subreaper orphan_with_another_exit_signal 10; }
@test "reap: an orphan without exit signal: as PID 1" { as_pid1 orphan_with_another_exit_signal 0; }
@test "reap: an orphan without exit signal: as a subreaper" { as_subreaper orphan_with_another_exit_signal 0; }

# As in `exec > >(logger); exec foster program`: a child from before the exec,
# whose exit signal stays what it was.
inherited_child() {
  mkfifo life
  exec 9<>life
  inside "$PROBE" inherit 10 life
  start "$PROBE" signals 9>&-
  ready
  wait_until children_of_are "$INIT" 2
  # It ends.
  exec 9>&-
  # Its own signal may not have come to us; the next SIGCHLD finds it as well.
  wait_until children_of_are "$INIT" 1
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
}
@test "reap: a child from before init's exec, with another exit signal: as PID 1" { as_pid1 inherited_child; }
@test "reap: a child from before init's exec, with another exit signal: as a subreaper" { as_subreaper inherited_child; }
@test "reap: a child from before init's exec, with another exit signal: as neither" { as_plain inherited_child; }

# The zombies of a parent that never waits are that parent's, until it dies.
negligent_parent() {
  local parent
  start sh -c '"$1" daemon "$1" negligent 50; exec "$1" signals' sh "$PROBE"
  ready
  ready
  wait_until children_of_are "$INIT" 2
  parent=$(last_child "$INIT")
  is "$(zombies_of "$parent")" 50
  kill -KILL "$parent"
  wait_until children_of_are "$INIT" 1
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
}
@test "reap: what a negligent parent leaves: as PID 1" { as_pid1 negligent_parent; }
@test "reap: what a negligent parent leaves: as a subreaper" { as_subreaper negligent_parent; }

# ---- Zombies that can't be reaped yet

# A tracer has the first claim on a zombie. Init must not spin meanwhile.
traced_zombie() {
  local orphan before tracer
  start "$PROBE" orphans 1 held
  ready
  wait_until children_of_are "$INIT" 2
  orphan=$(last_child "$INIT")
  "$PROBE" trace "$orphan" >tracer 3>&- {STDOUT}>&- &
  tracer=$!
  wait_until grep -q READY tracer
  kill -KILL "$orphan"
  wait_until in_state "$orphan" Z
  no_wakeup
  kill -KILL "$tracer"
  wait "$tracer" || :
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$status" 0
}
@test "reap: a traced zombie is reaped when its tracer is gone: as PID 1" { as_pid1 traced_zombie; }
@test "reap: a traced zombie is reaped when its tracer is gone: as a subreaper" { as_subreaper traced_zombie; }

# Its main thread ended, the process did not: /proc shows a zombie.
leader_ended() {
  local process
  start sh -c '"$1" daemon "$1" leader; exec "$1" hold' sh "$PROBE"
  ready
  ready
  wait_until children_of_are "$INIT" 2
  process=$(last_child "$INIT")
  in_state "$process" Z
  no_wakeup
  kill -KILL "$process"
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$status" 143
}
@test "reap: a process whose main thread ended lives on: as PID 1" { as_pid1 leader_ended; }
@test "reap: a process whose main thread ended lives on: as a subreaper" { as_subreaper leader_ended; }

idle() {
  start "$PROBE" hold
  ready
  no_wakeup
  signal TERM
  finish
  is "$status" 143
}
@test "reap: an idle init is never woken: as PID 1" { as_pid1 idle; }
@test "reap: an idle init is never woken: as a subreaper" { as_subreaper idle; }
@test "reap: an idle init is never woken: as neither" { as_plain idle; }

# ---- Children of every kind

thread_and_process_both_die() {
  # A child of a thread is its process's, and comes when all of it is dead.
  start sh -c '"$1" daemon sh -c "\"\$1\" hold & \"\$1\" hold & wait" sh "$1"
    exec "$1" hold' sh "$PROBE"
  ready && ready && ready
  wait_until children_of_are "$INIT" 2
  local daemon
  daemon=$(last_child "$INIT")
  kill -KILL "$daemon"
  # Its two children have come in its place.
  wait_until children_of_are "$INIT" 3
  signal TERM
  finish
  is "$status" 143
}
@test "reap: children come when their parent is killed: as PID 1" { as_pid1 thread_and_process_both_die; }
@test "reap: children come when their parent is killed: as a subreaper" { as_subreaper thread_and_process_both_die; }

stopped_and_continued_orphans() {
  local orphan
  start "$PROBE" orphans 1 held
  ready
  wait_until children_of_are "$INIT" 2
  orphan=$(last_child "$INIT")
  # Neither of which is an end.
  kill -STOP "$orphan"
  wait_until in_state "$orphan" T
  kill -CONT "$orphan"
  wait_until in_state "$orphan" S
  children_of_are "$INIT" 2
  signal TERM
  finish
  is "$status" 0
}
@test "reap: a stopped orphan is no dead one: as PID 1" { as_pid1 stopped_and_continued_orphans; }
@test "reap: a stopped orphan is no dead one: as a subreaper" { as_subreaper stopped_and_continued_orphans; }

# ---- -w

warn_on_reap() {
  start -w sh -c '
    "$1" daemon sh -c "exit 3"
    "$1" daemon sh -c "kill -KILL \$\$"
    "$1" daemon "$1" hold
    exec "$1" signals' sh "$PROBE"
  ready
  ready
  wait_until children_of_are "$INIT" 2
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
  is "$(grep -cE '^foster: reaped orphan [0-9]+ \(sh\): exit code 3$' <<<"$stderr")" 1
  is "$(grep -cE '^foster: reaped orphan [0-9]+ \(sh\): killed by SIGKILL$' <<<"$stderr")" 1
  is "$(grep -cE '^foster: reaped orphan [0-9]+ \(probe\): killed by SIGTERM$' <<<"$stderr")" 1
  # The program itself is no orphan, and no line says less than that.
  is "$(grep -c '' <<<"$stderr")" 3
}
@test "reap: -w says who it was and how it ended: as PID 1" { as_pid1 warn_on_reap; }
@test "reap: -w says who it was and how it ended: as a subreaper" { as_subreaper warn_on_reap; }

warn_each_time() {
  start -w "$PROBE" orphans 1000
  ready
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$(grep -cE '^foster: reaped orphan [0-9]+ \(probe\): exit code 0$' <<<"$stderr")" 1000
}
@test "reap: -w has a line for each of 1,000: as PID 1" { as_pid1 warn_each_time; }
@test "reap: -w has a line for each of 1,000: as a subreaper" { as_subreaper warn_each_time; }

# Others end between init's look at who it is and its wait, and they are older:
# found first.
warn_about_each() {
  requires strace
  local list
  WRAPPER=(strace -f -qq -o trace -e trace=waitid
    -e inject=waitid:delay_exit=300000)
  start -w "$PROBE" orphans 5 held
  ready
  wait_until children_of_are "$INIT" 6
  read_children "$INIT"
  kill -KILL "${list[5]}"
  kill -KILL "${list[@]:1:4}"
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$(grep -oE '^foster: reaped orphan [0-9]+ \(probe\): killed by SIGKILL$' \
    <<<"$stderr" | sort -u | grep -c '')" 5
}
@test "reap: -w misses none that ends as it looks at another: as PID 1" { as_pid1 warn_about_each; }
@test "reap: -w misses none that ends as it looks at another: as a subreaper" { as_subreaper warn_about_each; }
