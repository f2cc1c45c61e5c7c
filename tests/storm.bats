# The drain against many, and what goes on before it: see also drain.bats, and
# reap.bats for orphans. A file of its own since it takes long.

load helpers
load drain

# bats file_tags=storm

sleepers() {
  requires jq
  leave '"$P" sleepers 2000'" $1" -k 60 -R report
  ready
  wait_until children_of_are "$INIT" 2001
  entrypoint_ends
  finish
  is "$status" 7
  is "$stderr" ""
  took 0 25000
  is "$(jq -r '"\(.left_behind) \(.killed_after_grace)"' report)" "2000 0"
}
@test "storm: 2,000 sleepers: as PID 1" { as_pid1 sleepers; }
@test "storm: 2,000 sleepers: as a subreaper" { as_subreaper sleepers; }
@test "storm: 2,000 sleepers, each in its own session: as PID 1" { as_pid1 sleepers apart; }
@test "storm: 2,000 sleepers, each in its own session: as a subreaper" { as_subreaper sleepers apart; }

# The storm is in a PID namespace of its own, whose init, where that is not
# foster, looks whether anybody else was left. The entrypoint starts it, and
# ends a moment later, in the midst of it.
storm() { # storm CHAINS GRACE [COMMAND...]
  requires private_pid_max
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
  # Hundreds of them leave init, and this test, little time.
  PATIENCE=240
  start -k "$2" -- "${@:3}" "$PROBE" storm "$1" 230 300
  ready
  finish
  is "$status" 7
  if (($# == 2)) && [[ -z $stderr ]]; then
    return
  fi
  matches "$stderr" '^foster: killed [0-9]+ that had not ended in time[^:]*(: [^:]*)?$'
}
@test "storm: 64 chains of fork, setsid, exit: as PID 1" { as_pid1 storm 64 5; }
@test "storm: 64 chains of fork, setsid, exit: as a subreaper" { as_subreaper storm 64 5; }
@test "storm: 64 chains that ignore SIGTERM: as PID 1" { as_pid1 storm 64 1 "$PROBE" ignore 15; }
@test "storm: 64 chains that ignore SIGTERM: as a subreaper" { as_subreaper storm 64 1 "$PROBE" ignore 15; }
@test "storm: 300 chains: as PID 1" { as_pid1 storm 300 1; }
@test "storm: 300 chains: as a subreaper" { as_subreaper storm 300 1; }

# While the entrypoint runs: signals get through, reaping goes on, memory does
# not grow.
alive_in_a_storm() {
  requires private_pid_max jq
  if [[ $MODE == pid1 ]]; then
    inside sh -c 'echo 1500 >/proc/sys/kernel/pid_max; exec "$@"' sh
    start "$PROBE" storm 64 250
  else
    INIT_COMMAND=(unshare "${UNSHARE_FLAGS[@]}" sh -c '
      echo 1500 >/proc/sys/kernel/pid_max; "$@"; exit' sh "$FOSTER" -s)
    start -k 0 "$PROBE" storm 64 250
  fi
  PATIENCE=60
  ready
  local memory reaped
  memory=$(grep VmRSS "/proc/$INIT/status")
  reaped=$(reaped_by_init)
  wait_until reaped_more_than $((reaped + 2000))
  is "$(grep VmRSS "/proc/$INIT/status")" "$memory"
  begin=$(clock)
  signal TERM
  expect TERM
  took 0 10000
  finish
  is "$status" 0
}
reaped_by_init() { "$FOSTER" --status="$INIT" | jq .orphans_reaped; }
reaped_more_than() { (($(reaped_by_init) > $1)); }
@test "storm: before it, in a storm, SIGTERM gets through and reaping goes on: as PID 1" { as_pid1 alive_in_a_storm; }
@test "storm: before it, in a storm, SIGTERM gets through and reaping goes on: as a subreaper" { as_subreaper alive_in_a_storm; }
