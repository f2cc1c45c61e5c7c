# Nothing outlives the entrypoint.

load helpers
load drain

# ---- Who is told.

nobody_left() {
  leave '' -k 60
  entrypoint_ends
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 20000
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

# ---- The grace period.

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
@test "drain: stop signals in its first second end nothing: as PID 1" { as_pid1 echoes; }
@test "drain: stop signals in its first second end nothing: as a subreaper" { as_subreaper echoes; }

# ---- What resists.

# The storm is in a PID namespace of its own, whose init, where that is not
# foster, looks whether anybody else was left.
storm() {
  requires private_pid_max
  local chains=$1 grace=$2 prefix=${3-}
  local setup='echo 1500 >/proc/sys/kernel/pid_max'
  if [[ $MODE == pid1 ]]; then
    inside sh -c "$setup; exec \"\$@\"" sh
  else
    INIT_COMMAND=(unshare "${UNSHARE_FLAGS[@]}" sh -c "$setup
      \"\$@\"; code=\$?
      set -- /proc/[0-9]*
      [ \"\$*\" = /proc/1 ] || echo \"left: \$*\" >&2
      exit \$code" sh "$FOSTER" -s)
  fi
  leave "$prefix \"\$P\" storm $chains 250 &" -k "$grace"
  PATIENCE=120
  ready
  entrypoint_ends
  finish
  is "$status" 7
  if [[ -z $prefix && -z $stderr ]]; then
    return
  fi
  matches "$stderr" '^foster: killed [0-9]+ that had not ended in time[^:]*(: [^:]*)?$'
}
@test "drain: 64 chains of fork, setsid, exit: as PID 1" { as_pid1 storm 64 5; }
