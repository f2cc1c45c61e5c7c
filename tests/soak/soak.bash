# shellcheck shell=bash
# What the files beside this one share: a storm of orphans, signals, stops and
# readers of the status page, SOAK_SECONDS long. Each is in a PID namespace of
# its own with few pids, which are often all taken.

# shellcheck source=tests/helpers.bash
load ../helpers

: "${SOAK_SECONDS:=1800}"
# How long may be waited for. Four storms at once leave little to each.
PATIENCE=120

soak_as_pid1() {
  requires private_pid_max jq
  as_pid1 inside sh -c 'echo 400 >/proc/sys/kernel/pid_max; exec "$@"' sh
  "$@"
}

# Below a shell that is PID 1, to which nobody may come.
soak_as_subreaper() {
  requires private_pid_max jq
  find_unshare_flags
  MODE=subreaper
  # shellcheck disable=SC2016
  INIT_COMMAND=(unshare "${UNSHARE_FLAGS[@]}" sh -c '
    echo 400 >/proc/sys/kernel/pid_max
    "$@"
    code=$?
    set -- /proc/[0-9]*
    [ $# = 1 ] && exit $code
    echo "left: $*" >&2
    exit 99' sh "$FOSTER" -s)
  "$@"
}

# What init has counted, as press says what it must be.
counted() {
  jq -c '{orphans_reaped, signals_forwarded}'
}
as_sent() {
  status_now=$("$FOSTER" --status="$INIT" | counted)
  [[ $status_now == "$sent" ]]
}

# Ask for the status again and again; no number ever falls.
read_status() {
  local count=0 before=0 reaped
  until [[ -e no-more-readers ]]; do
    reaped=$("$FOSTER" --status="$INIT" | jq -e '
      select(.state == "running" or .state == "stopped") | .orphans_reaped')
    ((reaped >= before))
    before=$reaped
    echo $((++count)) >readers
  done
}

resident() { awk '$1 == "Rss:" { print $2 }' "/proc/$INIT/smaps_rollup"; }
open_files() {
  local list=("/proc/$INIT/fd"/*)
  echo "${#list[@]}"
}

say_figures() { echo "# soak, $MODE: $*" >&3; }

# One init, through one storm after another. When each is over all that was sent
# and made has been counted, and init is as large as it was.
one_run() {
  local sent status_now='' rounds=0 size=0 most=0 files=0 reader
  local end=$((SECONDS + SOAK_SECONDS))
  start -R "$PWD/report" "$PROBE" soak "$PWD/shared" 6 0
  ready
  read_status 3>&- {STDOUT}>&- &
  reader=$!

  while ((SECONDS < end || rounds < 4)); do
    "$PROBE" press shared "$INIT" "$(entrypoint)" 4000
    sent=$("$PROBE" press shared)
    wait_until as_sent || {
      echo "counted: $status_now, sent: $sent" >&2
      return 1
    }
    rounds=$((rounds + 1))
    # By then it has seen everything once.
    if ((rounds == 2)); then
      size=$(resident) files=$(open_files)
    elif ((rounds > 2)); then
      most=$(resident)
      ((most <= size)) || is "$most KiB after $rounds rounds" "$size KiB"
      is "$(open_files)" "$files"
    fi
  done

  touch no-more-readers
  wait "$reader"
  no_wakeup
  "$PROBE" press shared "$INIT" "$(entrypoint)" 500 15
  finish
  sent=$("$PROBE" press shared)
  is "$status" 0
  is "$stderr" ""
  is "$(counted <report)" "$sent"
  is "$(jq -c '[.state, .left_behind, .killed_after_grace]' report)" \
    '["ended",0,0]'
  say_figures "$rounds rounds, $(<readers) readings; size in KiB after round 2" \
    "and at the end: $size, $most; open files: $files; $sent"
}

# Many inits, each of which ends otherwise and leaves something to drain.
many_runs() {
  local runs=0 kind orphans=0 signals=0 killed=0
  local end=$((SECONDS + SOAK_SECONDS))
  local kinds=(obedient stubborn killed timeout alone)
  while ((SECONDS < end || runs < ${#kinds[@]})); do
    kind=${kinds[runs % ${#kinds[@]}]}
    rm -f shared report
    echo "run $runs: $kind"
    "run_$kind"
    orphans=$((orphans + $(jq .orphans_reaped report)))
    signals=$((signals + $(jq '[.signals_forwarded[]] | add' report)))
    killed=$((killed + $(jq .killed_after_grace report)))
    runs=$((runs + 1))
  done
  say_figures "$runs runs, orphans: $orphans, signals: $signals," \
    "killed at the end of the grace period: $killed"
}

# run_once "OPTION..." "ARGUMENT..." SIGNAL CODE: in $sent is what was sent.
run_once() {
  local options arguments
  read -ra options <<<"$1"
  read -ra arguments <<<"$2"
  start -R "$PWD/report" "${options[@]}" \
    "$PROBE" soak "$PWD/shared" "${arguments[@]}"
  ready
  "$PROBE" press shared "$INIT" "$(entrypoint)" 300 "$3"
  finish
  sent=$("$PROBE" press shared)
  is "$status" "$4"
  is "$(jq -c '[.state, .exit_code]' report)" "[\"ended\",$4]"
}

# left_is BEHIND KILLED: and all else is as it was sent.
left_is() {
  is "$(counted <report)" "$sent"
  is "$(jq -c '[.left_behind, .killed_after_grace]' report)" "[$1,$2]"
}

# They all end at SIGTERM, within much less than the grace period.
run_obedient() {
  local sent
  run_once "-k 60" "4 3 20 0" 15 3
  left_is 20 0
  is "$stderr" ""
}

# Five, with a child each, and none of them ends at SIGTERM.
run_stubborn() {
  local sent
  run_once "-k 0.2" "4 4 5 5" 15 4
  left_is 10 10
}

# In the middle of its storm, which goes on until it is killed. The number of
# orphans is known but for those that were just made, a brood and a link of each
# chain, and for the program's own children.
run_killed() {
  local sent made reaped
  run_once "-k 0.3" "4 0" 9 137
  is "$(jq -c '[.signal, .signals_forwarded]' report)" \
    "$(jq -c '["SIGKILL", .signals_forwarded]' <<<"$sent")"
  made=$(jq .orphans_reaped <<<"$sent")
  reaped=$(jq .orphans_reaped report)
  ((reaped >= made && reaped < made + 40)) || is "$reaped reaped" "$made made"
}

# It does not end, and is killed by -t.
run_timeout() {
  local sent
  run_once "-t 0.2" "4 -1" 15 137
  left_is 0 0
}

# The signals are for the program alone.
run_alone() {
  local sent
  run_once "-c -k 60" "4 5 8 0" 15 5
  left_is 8 0
  is "$stderr" ""
}
