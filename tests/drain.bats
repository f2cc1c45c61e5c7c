# Nothing outlives the entrypoint. See also grace.bats, orderings.bats and
# storm.bats.

load helpers
load drain

# ---- Who is told.

nobody_left() {
  leave '' -k 60
  entrypoint_ends
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 50000
}
@test "drain: where nobody is left it is over at once: as PID 1" { as_pid1 nobody_left; }
@test "drain: where nobody is left it is over at once: as a subreaper" { as_subreaper nobody_left; }

detached() {
  leave '
    "$P" told plain &
    setsid "$P" told setsid &
    setsid -f "$P" told setsid-f
    nohup "$P" told nohup 2>/dev/null &
    bash -c "\"\$1\" told disown & disown; exit" - "$P"
    bash -mc "\"\$1\" told group & exit" - "$P" 2>/dev/null
    "$P" daemon "$P" told daemon
    ("$P" told nested & )
    (setsid sh -c "(\"\$1\" told twice & ) & wait" - "$P" & )' -k 60
  local names=(plain setsid setsid-f nohup disown group daemon nested twice)
  expect_all "${names[@]/*/READY}"
  entrypoint_ends
  expect_all "${names[@]/%/ told by its parent}"
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 25000
}
@test "drain: however it is detached, each is told: as PID 1" { as_pid1 detached; }
@test "drain: however it is detached, each is told: as a subreaper" { as_subreaper detached; }

stopped() {
  leave '"$P" daemon "$P" told stopped' -k 60
  ready
  local pid
  wait_until children_of_are "$INIT" 2
  pid=$(last_child "$INIT")
  kill -STOP "$pid"
  wait_until in_state "$pid" T
  entrypoint_ends
  expect "stopped told by its parent"
  finish
  is "$status" 7
  took 0 25000
}
@test "drain: a stopped process is told and continued: as PID 1" { as_pid1 stopped; }
@test "drain: a stopped process is told and continued: as a subreaper" { as_subreaper stopped; }

master_first() {
  leave '"$P" daemon "$P" master 3' -k 60
  ready
  entrypoint_ends
  expect "master told by its parent"
  expect_all "worker told by its parent" "worker told by its parent" \
    "worker told by its parent" "master ends"
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 25000
}
@test "drain: a master is told alone and ends its workers: as PID 1" { as_pid1 master_first; }
@test "drain: a master is told alone and ends its workers: as a subreaper" { as_subreaper master_first; }

# It leaves its workers behind: they are told when they have come to us.
master_killed() {
  leave '"$P" daemon "$P" master 3' -k 60
  ready
  kill -KILL "$(last_child "$INIT")"
  wait_until children_of_are "$INIT" 4
  entrypoint_ends
  expect_all "worker told by its parent" "worker told by its parent" \
    "worker told by its parent"
  finish
  is "$status" 7
}
@test "drain: what a master left behind is told: as PID 1" { as_pid1 master_killed; }
@test "drain: what a master left behind is told: as a subreaper" { as_subreaper master_killed; }

# Its parent ignores SIGTERM, so it is told at half time, not before.
second_wave() {
  leave 'setsid -f sh -c '\''trap "" TERM; "$1" told hidden & wait'\'' - "$P"' -k 14
  ready
  entrypoint_ends
  expect "hidden told by somebody else"
  took 7000 13900
  finish
  is "$status" 7
  is "$stderr" ""
}
@test "drain: what hides under a parent that ignores SIGTERM is told at half time: as PID 1" { as_pid1 second_wave; }
@test "drain: what hides under a parent that ignores SIGTERM is told at half time: as a subreaper" { as_subreaper second_wave; }

# SIGUSR1 (10) ends the probe.
forwarded_once() {
  leave 'trap "exit 7" TERM; "$P" signals 10 &' -k 60
  ready
  begin=$(clock)
  signal TERM
  expect "program 15 user 0"
  wait_until children_of_are "$INIT" 1
  # Several lists later there was no second one; half time is far away.
  wait_until passed 1000
  expect_nothing_more
  "$PROBE" send "$(first_child "$INIT")" 10
  expect "program 10 user 0"
  finish
  is "$status" 7
}
@test "drain: who got the forwarded SIGTERM is not told again: as PID 1" { as_pid1 forwarded_once; }
@test "drain: who got the forwarded SIGTERM is not told again: as a subreaper" { as_subreaper forwarded_once; }

# The same with a grace period without end, which has no half. Whoever got the
# forwarded signal is told again, as somebody may have been forked after it.
second_wave_without_end() {
  leave 'trap "exit 7" TERM; "$P" signals 10 &' -k inf
  ready
  begin=$(clock)
  signal TERM
  expect "program 15 user 0"
  expect "program 15 user 0"
  # Half of the usual one.
  passed 2500
  expect "program 18 user 0"
  "$PROBE" send "$(first_child "$INIT")" 10
  expect "program 10 user 0"
  finish
  is "$status" 7
  is "$stderr" ""
}
@test "drain: a grace period without end has a second wave too: as PID 1" { as_pid1 second_wave_without_end; }
@test "drain: a grace period without end has a second wave too: as a subreaper" { as_subreaper second_wave_without_end; }

# What was forwarded is no telling.
says_whom_it_tells() {
  leave 'trap "exit 7" TERM; "$P" signals 10 & "$P" daemon "$P" told child' -v -k 60
  expect_all READY READY
  local pid
  pid=$(first_child "$(entrypoint)")
  signal TERM
  expect_all "program 15 user 0" "child told by its parent"
  "$PROBE" send "$pid" 10
  expect "program 10 user 0"
  finish
  is "$status" 7
  matches "$(grep telling stderr)" '^foster: drain: telling process [0-9]+ \(probe\)$'
}
@test "drain: with -v it says whom it tells: as PID 1" { as_pid1 says_whom_it_tells; }
@test "drain: with -v it says whom it tells: as a subreaper" { as_subreaper says_whom_it_tells; }

# ---- What resists.

heirs() {
  leave '"$P" daemon "$P" heirs 5' -k 60
  ready
  entrypoint_ends
  local i
  for i in {1..5}; do
    expect heir
  done
  expect last
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 25000
}
@test "drain: who forks as it is told has its heirs told: as PID 1" { as_pid1 heirs; }
@test "drain: who forks as it is told has its heirs told: as a subreaper" { as_subreaper heirs; }

endless_heirs() {
  leave '"$P" daemon "$P" heirs 100000000' -k 1
  ready
  entrypoint_ends
  finish
  took 1000 15000
  is "$status" 7
  # And maybe the one before it, which was about to end.
  matches "$stderr" '^foster: killed [12] that had not ended in time: [0-9]+ \(probe\)(, [0-9]+ \(probe\))?$'
}
@test "drain: heirs without end are killed: as PID 1" { as_pid1 endless_heirs; }
@test "drain: heirs without end are killed: as a subreaper" { as_subreaper endless_heirs; }

no_more_processes() {
  as_anybody
  INIT_COMMAND=(bash -c 'ulimit -u 60 && exec "$@"' bash "${INIT_COMMAND[@]}")
  leave '"$P" ignore 15 "$P" sleepers 0 2>/dev/null' -k 1
  ready
  entrypoint_ends
  finish
  is "$status" 7
  took 1000 15000
  matches "$stderr" '^foster: killed [0-9]+ that had not ended in time: [^:]+$'
}
@test "drain: under RLIMIT_NPROC, with all of it used up: as PID 1" { as_pid1 no_more_processes; }
@test "drain: under RLIMIT_NPROC, with all of it used up: as a subreaper" { as_subreaper no_more_processes; }

# ---- Where init may not do or see everything.

tell_and_kill() {
  leave '"$P" daemon "$P" told child; "$P" daemon "$P" ignore 15' -k "${1:-2}"
  ready
  ready
  entrypoint_ends
  expect "child told by its parent"
  finish
  is "$status" 7
  matches "$stderr" '^foster: killed 1 that had not ended in time[^:]*(: [0-9]+ \([^ ]+\))?$'
  took $((${1:-2} * 1000)) "${2:-20000}"
}

without_proc() {
  if [[ $MODE == pid1 ]]; then
    inside sh -c 'mount -t tmpfs none /proc && exec "$@"' sh
    tell_and_kill
  else
    INIT_COMMAND=(unshare -Urm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh
      "${INIT_COMMAND[@]}")
    # A list takes a second, or many on a busy machine.
    tell_and_kill 8 120000
  fi
}
# Sanitizers do not start without it: not-asan.
# bats test_tags=not-asan
@test "drain: without /proc: as PID 1" { as_pid1 without_proc; }
# bats test_tags=not-asan
@test "drain: without /proc: as a subreaper" { requires pid_namespace; as_subreaper without_proc; }

outer_proc() {
  requires pid_namespace
  local command=("${INIT_COMMAND[@]}")
  if [[ $MODE == pid1 ]]; then
    INIT_COMMAND=(unshare -Urpf --kill-child "$FOSTER")
    tell_and_kill
  else
    INIT_COMMAND=(unshare -Urpf --kill-child sh -c '"$@"; exit' sh "${command[@]}")
    tell_and_kill 8 120000
  fi
}
@test "drain: with the /proc of an outer PID namespace: as PID 1" { as_pid1 outer_proc; }
@test "drain: with the /proc of an outer PID namespace: as a subreaper" { as_subreaper outer_proc; }

no_capabilities() {
  requires pid_namespace setpriv
  local -r drop='exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
  if [[ $MODE == pid1 ]]; then
    inside sh -c "$1; $drop" sh
  else
    INIT_COMMAND=(unshare "${UNSHARE_FLAGS[@]}" sh -c "$1; ($drop); exit" sh
      "${INIT_COMMAND[@]}")
  fi
  tell_and_kill
}
hidepid='mount -t proc -o hidepid=2 proc /proc'
@test "drain: without capabilities: as PID 1" { as_pid1 no_capabilities :; }
@test "drain: without capabilities: as a subreaper" { as_subreaper no_capabilities :; }
@test "drain: under hidepid: as PID 1" { as_pid1 no_capabilities "$hidepid"; }
@test "drain: under hidepid: as a subreaper" { as_subreaper no_capabilities "$hidepid"; }

unprivileged() {
  as_anybody
  tell_and_kill
}
@test "drain: as an unprivileged user: as PID 1" { as_pid1 unprivileged; }
@test "drain: as an unprivileged user: as a subreaper" { as_subreaper unprivileged; }

# A program of another user can be neither told nor killed.
foreign_user() {
  for_anybody
  install -m 4755 "$PROBE" suid
  if [[ $MODE == pid1 ]]; then
    INIT_COMMAND=(unshare -pf --mount-proc --kill-child "${DROP[@]}" "$FOSTER")
  else
    WRAPPER=("${DROP[@]}")
  fi
  leave './suid with uid=0 "$P" hold & "$P" told child &' -k 1
  expect_all READY READY
  local pid
  for pid in $(children "$(entrypoint)"); do
    [[ $(grep -Eo 'Uid:.*' "/proc/$pid/status") == *"$ANYBODY"* ]] || break
  done
  entrypoint_ends
  expect "child told by its parent"
  finish
  is "$status" 7
  took 1000 15000
  is "$stderr" "foster: some processes cannot be killed: leaving them"
  if [[ $MODE == subreaper ]]; then
    exists "$pid"
    kill "$pid"
  fi
}
@test "drain: a set-user-ID program does not hold it up: as PID 1" { as_pid1 foreign_user; }
@test "drain: a set-user-ID program does not hold it up: as a subreaper" { as_subreaper foreign_user; }

# The zombie is not ours to reap as long as its tracer lives.
traced() {
  leave '"$P" hold &' -k 1
  ready
  local pid tracer
  pid=$(first_child "$(entrypoint)")
  "$PROBE" trace "$pid" >traced 3>&- &
  tracer=$!
  wait_until grep -q READY traced
  entrypoint_ends
  wait_until grep -q "cannot be killed" stderr
  took 1000 15000
  in_state "$pid" Z
  kill -KILL "$tracer"
  finish
  is "$status" 7
  is "$stderr" "foster: some processes cannot be killed: leaving them"
}
@test "drain: a zombie with a tracer does not hold it up: as PID 1" { as_pid1 traced; }
@test "drain: a zombie with a tracer does not hold it up: as a subreaper" { as_subreaper traced; }

# ---- Who is not told.

# A child that init has from before its exec lives as long as FIFO life has a
# writer.
with_inherited_child() {
  mkfifo life
  if [[ $MODE == pid1 ]]; then
    inside "$PROBE" inherit 17 life
  else
    WRAPPER=("$PROBE" inherit 17 life)
  fi
}

# As PID 1 init takes it along, whatever it is.
inherited_lives() { # inherited_lives PID FD
  [[ $MODE == subreaper ]] || return 0
  exists "$1"
  local fd=$2
  exec {fd}>&-
  wait_until gone "$1"
}

inherited() {
  with_inherited_child
  leave '"$P" daemon "$P" told child' -k 60
  ready
  local pid fd
  pid=$(first_child "$INIT")
  exec {fd}<>life
  entrypoint_ends
  expect "child told by its parent"
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 25000
  inherited_lives "$pid" "$fd"
}
@test "drain: a child from before init's exec is not waited for: as PID 1" { as_pid1 inherited; }
@test "drain: a child from before init's exec is not told or killed: as a subreaper" { as_subreaper inherited; }

inherited_alone() {
  with_inherited_child
  leave '"$P" daemon "$P" ignore 15' -k 1
  ready
  local pid fd
  pid=$(first_child "$INIT")
  exec {fd}<>life
  entrypoint_ends
  finish
  is "$status" 7
  killed 1 probe
  inherited_lives "$pid" "$fd"
}
@test "drain: a child from before init's exec is not killed with others: as PID 1" { as_pid1 inherited_alone; }
@test "drain: a child from before init's exec is not killed with others: as a subreaper" { as_subreaper inherited_alone; }

@test "drain: a logger that the script started before sees all of the output" {
  as_subreaper
  run bash -c 'exec > >(while read -r line; do echo "log: $line"; done >log)
    exec "$0" -s -k 60 -- sh -c "
      trap \"\" TERM; echo one; echo two & exit 7"' "$FOSTER"
  is "$status" 7
  wait_until grep -q two log
  is "$(sort log)" $'log: one\nlog: two'
}

@test "drain: strangers with the same user, name and arguments live on" {
  requires private_pid_max
  cat >script <<'END'
    echo 400 >/proc/sys/kernel/pid_max
    mkfifo said gate
    exec 4<>said 5<>gate
    alive() { read -r _ _ state _ <"/proc/$1/stat" && [ "$state" = S ]; }
    "$PROBE" hold >&4 & before=$!
    read -r _ <&4
    "$FOSTER" -s -k 2 -- sh -c '
      "$PROBE" daemon "$PROBE" hold
      "$PROBE" daemon "$PROBE" ignore 15 "$PROBE" hold
      "$PROBE" ignore 15 "$PROBE" storm 8 250 &
      read -r _ <gate; exit 7' >&4 & init=$!
    read -r _ <&4; read -r _ <&4; read -r _ <&4
    # Numbers are used again and again: the storm takes all of them.
    until "$PROBE" hold >&4 & during=$!; [ -n "$during" ]; do :; done
    read -r _ <&4
    echo >&5
    wait "$init"; code=$?
    alive "$before" && echo "before lives"
    alive "$during" && echo "during lives"
    set -- /proc/[0-9]*
    echo "processes: $#"
    exit "$code"
END
  PATIENCE=60
  run timeout -k 5 120 unshare "${UNSHARE_FLAGS[@]}" sh script
  is "$status" 7
  matches "$output" $'before lives\nduring lives\nprocesses: 3$'
}

# ---- Where orphans are not ours.

@test "drain: without -s orphans are left alone" {
  as_plain
  leave '"$P" daemon "$P" told child' -k 0
  ready
  entrypoint_ends
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 10000
  local pid
  pid=$(test_processes)
  matches "$pid" '^[0-9]+$'
  "$PROBE" send "$pid" 15
  expect "child told by somebody else"
}
