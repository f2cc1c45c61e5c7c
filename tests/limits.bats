# Limits that are used up: nothing but a failed spawn is worse than a line.
#
# Sanitizers need descriptors, stack and much address space: not-asan.

load helpers
load asks
load drain
load terminal

bats_require_minimum_version 1.5.0

# limited ULIMIT... -- [WORD...]: init and its program have these limits, and do
# all the same what they always do. Nothing is said.
limited() {
  local limits=()
  while [[ $1 != -- ]]; do
    limits+=("$1")
    shift
  done
  # Without those that bats has open.
  # shellcheck disable=SC2016
  inside bash -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    ulimit $0 && exec "$@"' "${limits[*]}"
  asks "$@"
  is "$output" READY
}

# With 4 there is one for the signalfd, and none for a page or for /proc.
# bats test_tags=not-asan
@test "limits: one descriptor to be had: as PID 1" { as_pid1 limited -n 4 -- leaves; }
# bats test_tags=not-asan
@test "limits: one descriptor to be had: as neither" { as_plain limited -n 4 --; }
@test "limits: no signals to be queued: as PID 1" { as_pid1 limited -i 0 -- leaves; }
@test "limits: no signals to be queued: as a subreaper" { as_subreaper limited -i 0 -- leaves; }
# bats test_tags=not-asan
@test "limits: a small stack: as PID 1" { as_pid1 limited -s 64 -- leaves; }
# bats test_tags=not-asan
@test "limits: a small stack: as a subreaper" { as_subreaper limited -s 64 -- leaves; }
@test "limits: nothing to be written, locked or dumped: as PID 1" { as_pid1 limited -f 0 -l 0 -c 0 -- leaves; }
# bats test_tags=not-asan
@test "limits: all of it: as PID 1" { as_pid1 limited -n 4 -i 0 -s 64 -f 0 -l 0 -c 0 -- leaves; }

no_descriptor() {
  # shellcheck disable=SC2016
  inside bash -c 'ulimit -n "$0"; exec "$@"' "$1"
  run foster touch ran
  is "$status" 125
  is "$output" "foster: cannot receive signals: too many open files"
  [[ ! -e ran ]]
}
# bats test_tags=not-asan
@test "limits: no descriptors at all: as a subreaper" { as_subreaper no_descriptor 0; }
# bats test_tags=not-asan
@test "limits: three descriptors: as a subreaper" { as_subreaper no_descriptor 3; }

# From as little as the kernel starts it with at all, page by page: with the
# least of it there is no status page.
# bats test_tags=not-asan
@test "limits: address space" {
  local kib=1024 enough
  until runs_within "$kib"; do
    kib=$((kib + 64))
    ((kib < 100000))
  done
  enough=$kib
  until runs_within $((enough - 60)); do
    enough=$((enough + 4))
  done
  for kib in {0..60..4}; do
    runs_within $((enough - 60 + kib))
    is "$output" "probe: no program: Invalid argument"
  done
}
runs_within() {
  # shellcheck disable=SC2016
  try bash -c 'ulimit -v "$0"; exec "$@"' "$1" "$FOSTER" "$PROBE" with
  ((status == 98))
}

# ---- Processes

# Of a user that nobody else is: root has no such limit.
@test "limits: no process to be had" {
  as_anybody
  # shellcheck disable=SC2016
  run "${WRAPPER[@]}" bash -c 'ulimit -u 1; exec "$@"' bash "$FOSTER" -s true
  is "$status" 125
  is "$output" "foster: cannot fork: resource temporarily unavailable"
}

# Every process that there can be, and all of them end with the program.
all_of_the_user() {
  as_anybody
  inside bash -c 'ulimit -u 60; exec "$@"' bash
  start -k 0 sh -c '"$1" sleepers 0 apart; exec "$1" signals' sh "$PROBE"
  ready
  ready
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
  matches "$stderr" '^foster: killed [4-6][0-9] that had not ended in time: [^:]*$'
}
@test "limits: the program takes all processes of its user: as a subreaper" { as_subreaper all_of_the_user; }

# The same for a PID namespace, which has no number left.
full_pid_space() {
  requires private_pid_max
  local limited='echo 400 >/proc/sys/kernel/pid_max && "$@"'
  if [[ $MODE == pid1 ]]; then
    inside sh -c "${limited/\"/exec \"}" sh
  else
    INIT_COMMAND=(unshare "${UNSHARE_FLAGS[@]}" sh -c "$limited; exit" sh
      "$FOSTER" -s)
  fi
  start -k 0 sh -c '"$1" sleepers 0 apart; exec "$1" signals' sh "$PROBE"
  ready
  ready
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
  matches "$stderr" '^foster: killed [0-9]{2,3} that had not ended in time: [^:]*$'
}
@test "limits: the program takes all of a PID namespace: as PID 1" { as_pid1 full_pid_space; }
@test "limits: the program takes all of a PID namespace: as a subreaper" { as_subreaper full_pid_space; }

@test "limits: a PID namespace that is full already: as PID 1" {
  requires private_pid_max
  # The sleepers end with the namespace.
  # shellcheck disable=SC2016
  run unshare "${UNSHARE_FLAGS[@]}" sh -c '
    echo 400 >/proc/sys/kernel/pid_max
    "$1" sleepers 0 >&2
    exec "$0" touch ran' "$FOSTER" "$PROBE"
  is "$status" 125
  is "$output" "READY
foster: cannot fork: resource temporarily unavailable"
  [[ ! -e ran ]]
}

# ---- Memory

# A cgroup that is full: the program is killed, or fails, as it writes to a file
# that is memory; that file stays while init reaps and drains. The OOM killer
# takes the largest, which with sanitizers would be init but for dd's buffer.
memory_is_full() {
  requires memory_cgroup
  local cgroup=$MEMORY_CGROUP/foster-test.$$ file=/dev/shm/foster-test.$$
  mkdir "$cgroup"
  echo 16M >"$cgroup/$MEMORY_LIMIT"
  # shellcheck disable=SC2016
  inside sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$cgroup"
  try timeout -k 1 "$PATIENCE" "${INIT_COMMAND[@]}" -k 60 sh -c '
    for i in 1 2 3 4 5 6 7 8 9 10; do
      "$2" daemon "$2" told
      "$2" daemon sh -c "exit 1"
    done
    exec dd if=/dev/zero of="$1" bs=8M' sh "$file" "$PROBE"
  rm -f "$file"
  wait_until rmdir "$cgroup"
  echo "$output"
  ((status == 1 || status == 137))
  # All that could hear were told, or the OOM killer was there before.
  is "$(grep -c 'told by' <<<"$output")" 10
}
@test "limits: memory of the cgroup, while it reaps and drains: as PID 1" { as_pid1 memory_is_full; }
@test "limits: memory of the cgroup, while it reaps and drains: as a subreaper" { as_subreaper memory_is_full; }

# ---- stderr. What cannot be written is lost.

# says_much: to the stderr that it is given. With lines at the start, while the
# program runs, and at the end.
says_much() {
  run -42 timeout -k 1 "$PATIENCE" bash -c 'exec "$@" 2>&'"$1" bash \
    "$PROBE" with block=10,12,15 "${INIT_COMMAND[@]}" -vv -w -k 0.1 \
    "$PROBE" asks leaves queued
  is "$output" READY
  run -127 timeout -k 1 "$PATIENCE" bash -c 'exec "$@" 2>&'"$1" bash \
    "${INIT_COMMAND[@]}" ./missing
  is "$output" ""
}

full_stderr() {
  local full
  exec {full}>/dev/full
  says_much "$full"
  exec {full}>&-
}
@test "limits: stderr is a full device: as PID 1" { as_pid1 full_stderr; }
@test "limits: stderr is a full device: as a subreaper" { as_subreaper full_stderr; }

@test "limits: stderr is closed: as PID 1" { as_pid1 says_much -; }
@test "limits: stderr is closed: as a subreaper" { as_subreaper says_much -; }

unread_pipe() {
  local full
  mkfifo full
  exec {full}<>full
  # To the brim, by an open file of dd's own: O_NONBLOCK stays with it.
  run dd if=/dev/zero of=full bs=4096 oflag=nonblock conv=notrunc
  says_much "$full"
  exec {full}>&-
}
@test "limits: stderr is a pipe that nobody reads: as PID 1" { as_pid1 unread_pipe; }
@test "limits: stderr is a pipe that nobody reads: as a subreaper" { as_subreaper unread_pipe; }

broken_pipe() {
  local broken
  mkfifo broken
  exec {broken}<>broken
  exec {writer}>broken {broken}>&-
  says_much "$writer"
  exec {writer}>&-
}
@test "limits: stderr is a pipe without a reader: as PID 1" { as_pid1 broken_pipe; }
@test "limits: stderr is a pipe without a reader: as a subreaper" { as_subreaper broken_pipe; }

# ^S stops a terminal; what is written to it waits for ^Q.
stopped_terminal() {
  mkfifo gate
  exec {GATE}<>gate
  # shellcheck disable=SC2016
  on_terminal "$@" sh -c 'echo READY; read -r _ <gate; exec "$@"' sh \
    "${INIT_COMMAND[@]}" -vv -w sh -c '
    "$1" daemon sh -c "exit 1"; exit 42' sh "$PROBE"
  see READY
  control S
  echo >&"$GATE"
  ended "exit 42"
  exec {GATE}>&-
}
@test "limits: stderr is a terminal that is stopped: as PID 1" { as_pid1 stopped_terminal loose; }
@test "limits: stderr is a terminal that is stopped: as a subreaper" { as_subreaper stopped_terminal; }
