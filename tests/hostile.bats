# Neighbours of the same user, who may do to init whatever the kernel lets them
# do. It survives all but what the kernel itself ends it for (README, "Security
# and reliability").

load helpers
load drain

# flood SIGNALS: somebody sends them to init, as fast as can be.
flood() {
  "$PROBE" flood "$INIT" "$1" >flooded 2>&1 3>&- {STDOUT}>&- &
  FLOOD=$!
  wait_until grep -q READY flooded
}
flood_ended() {
  wait_until gone "$FLOOD"
  wait "$FLOOD"
}

# Of what is flooded the program hears too; meanwhile init reaps, and forwards
# what somebody else sends.
goes_on_in_a_flood() {
  # The queue of real-time signals, which is its user's, is not filled up.
  # shellcheck disable=SC2016
  inside bash -c 'ulimit -i 100; exec "$@"' bash
  start "$PROBE" orphans 300 held
  ready
  flood "$1"
  # They end, and so does the program.
  signal USR1
  wait_until children_of_are "$INIT" 1
  signal TERM
  finish
  is "$status" 0
  is "$stderr" ""
  flood_ended
}
all_but_kill_stop_and_ours=1,2,3,4,5,6,7,8,11,12,13,14,16,17,18,20,21,22,23,24
all_but_kill_stop_and_ours+=,25,26,27,28,29,30,31,32,33,34,50,63,64
@test "hostile: signals at full rate: as PID 1" { as_pid1 goes_on_in_a_flood "$all_but_kill_stop_and_ours"; }
@test "hostile: signals at full rate: as a subreaper" { as_subreaper goes_on_in_a_flood "$all_but_kill_stop_and_ours"; }
@test "hostile: signals at full rate, with -p: as a subreaper" { as_subreaper with_p; }
with_p() {
  INIT_COMMAND+=(-p TERM)
  goes_on_in_a_flood 34,63
}
@test "hostile: SIGSTOP and SIGCONT at full rate: as PID 1" { as_pid1 goes_on_in_a_flood 18,19; }
@test "hostile: SIGSTOP and SIGCONT at full rate: as a subreaper" { as_subreaper goes_on_in_a_flood 18,19; }

# Whatever init has open, the status page and the report included, is emptied
# and written to, as far as it can be opened.
descriptors_are_attacked() {
  local fd
  leave 'echo READY; "$P" daemon "$P" told' -R report -k 60
  ready
  ready
  "$FOSTER" --status="$INIT" >/dev/null # waits until the page is there
  for fd in "/proc/$INIT/fd"/*; do
    { : >"$fd" && echo rubbish >>"$fd"; } 2>/dev/null || :
  done
  is "$(<report)" rubbish
  entrypoint_ends
  expect "child told by its parent"
  finish
  is "$status" 7
  is "$stderr" rubbish
  matches "$(<report)" '^\{.*"exit_code":7,.*"left_behind":1,.*\} *$|^\{.*"left_behind":1,.*"exit_code":7,.*\} *$'
}
@test "hostile: its descriptors are written to: as PID 1" { as_pid1 descriptors_are_attacked; }
@test "hostile: its descriptors are written to: as a subreaper" { as_subreaper descriptors_are_attacked; }

# A file that takes the report's place is not written to.
report_is_replaced() {
  echo precious >victim
  leave 'echo READY' -R report
  ready
  ln -sf ../"${PWD##*/}"/victim report
  entrypoint_ends
  finish
  is "$status" 7
  is "$stderr" ""
  is "$(<victim)" precious
}
@test "hostile: the report is replaced by a link: as PID 1" { as_pid1 report_is_replaced; }
@test "hostile: the report is replaced by a link: as a subreaper" { as_subreaper report_is_replaced; }

# Any process of the user may lower what init may use. Sanitizers need more.
limits_are_lowered() {
  requires prlimit
  start -R report -k 60 sh -c '"$1" daemon "$1" told; exec "$1" signals' \
    sh "$PROBE"
  ready
  ready
  prlimit --pid "$INIT" --nofile=0 --as=0 --data=0 --core=0 --memlock=0 \
    --sigpending=0 --nproc=0 --nice=0 --msgqueue=0
  signal USR1
  expect "program 10 user 0"
  signal TERM
  expect "program 15 user 0"
  expect "child told by its parent"
  finish
  is "$status" 0
  is "$stderr" ""
  matches "$(<report)" '"exit_code":0,'
}
# bats test_tags=not-asan
@test "hostile: its limits are lowered while it runs: as PID 1" { as_pid1 limits_are_lowered; }
# bats test_tags=not-asan
@test "hostile: its limits are lowered while it runs: as a subreaper" { as_subreaper limits_are_lowered; }

# A tracer that comes and goes.
traced() {
  local i
  start "$PROBE" signals
  ready
  for i in 1 2 3; do
    "$PROBE" trace "$INIT" >tracer 2>&1 3>&- {STDOUT}>&- &
    wait_until grep -q READY tracer
    signal USR1
    kill -KILL $!
    wait $! || :
    rm tracer
    expect "program 10 user 0"
  done
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
}
@test "hostile: it is traced, and the tracer killed: as PID 1" { as_pid1 traced; }
@test "hostile: it is traced, and the tracer killed: as a subreaper" { as_subreaper traced; }
