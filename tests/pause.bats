# -P: no program, as in a pod's infra container: reap until told to stop.

load helpers

# A signal from before the exec, or before init blocks them all, is none of
# init's: a shell has SIGINT ignored for what it starts in the background.
start_pause() {
  start "$@"
  wait_until blocks_all
}
blocks_all() { grep -qi '^SigBlk:.fffffffffffbfeff$' "/proc/$INIT/status"; }

ends_with_zero() {
  local sig
  for sig in TERM INT; do
    start_pause -P
    signal "$sig"
    finish
    is "$status" 0
    is "$stderr" ""
  done
  start_pause --pause
  # Signals that are no stop do nothing, whatever they do by default.
  "$PROBE" send "$INIT" 1 3 10 12 14 34 64
  signal TERM
  finish
  is "$status" 0
}
@test "pause: SIGTERM and SIGINT end it with 0: as PID 1" { as_pid1 ends_with_zero; }
@test "pause: SIGTERM and SIGINT end it with 0: as a subreaper" { as_subreaper ends_with_zero; }

other_signals_do_nothing() {
  start_pause -P
  local sig
  wait_until in_state "$INIT" S
  for sig in 1 3 {6..8} 10 {11..14} 16 24 29 31 34 63 64; do
    "$PROBE" send "$INIT" "$sig"
  done
  # It has taken them all, and sleeps again.
  wait_until nothing_pending
  wait_until in_state "$INIT" S
  signal TERM
  finish
  is "$status" 0
}
nothing_pending() { [[ $(grep -cE '^(Sig|Shd)Pnd:.0{16}$' "/proc/$INIT/status") == 2 ]]; }
@test "pause: other signals do nothing: as PID 1" { as_pid1 other_signals_do_nothing; }
@test "pause: other signals do nothing: as a subreaper" { as_subreaper other_signals_do_nothing; }

# A child from before, whose own children become orphans as it is killed.
reaps_and_drains() {
  inside sh -c 'sh -c "\"\$PROBE\" hold & \"\$PROBE\" hold & wait" & exec "$@"' sh
  start_pause -P
  ready
  ready
  wait_until children_of_are "$INIT" 1
  kill -KILL "$(first_child "$INIT")"
  wait_until children_of_are "$INIT" 2
  kill -KILL "$(first_child "$INIT")"
  wait_until children_of_are "$INIT" 1
  # The one that is left is told to end.
  signal TERM
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "pause: orphans are reaped, and drained at the end: as PID 1" { as_pid1 reaps_and_drains; }
@test "pause: orphans are reaped, and drained at the end: as a subreaper" { as_subreaper reaps_and_drains; }

idles() {
  start_pause -P
  no_wakeup
  signal TERM
  finish
  is "$status" 0
}
@test "pause: it is never woken: as PID 1" { as_pid1 idles; }
@test "pause: it is never woken: as a subreaper" { as_subreaper idles; }

# A dynamic binary finds no libc there.
# bats test_tags=not-asan
@test "pause: the pod's way: PATH -P in an empty root, as PID 1" {
  requires pid_namespace root
  mkdir empty
  cp "$FOSTER" empty/catatonit
  INIT_COMMAND=(unshare -pf --kill-child chroot empty /catatonit)
  FOSTER=$PWD/empty/catatonit
  start_pause -P
  signal TERM
  finish
  is "$status" 0
}
