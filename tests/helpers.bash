# shellcheck shell=bash
# What the tests share. Every .bats file begins with `load helpers`.
#
# A behaviour is one function, and a test a line for each way to run it:
#
#   exit_code_is_passed_on() {
#     run foster sh -c 'exit 3'
#     is "$status" 3
#   }
#   @test "spawn: an exit code is passed on: as PID 1"     { as_pid1 exit_code_is_passed_on; }
#   @test "spawn: an exit code is passed on: as subreaper" { as_subreaper exit_code_is_passed_on; }
#
# In it `foster` runs the init of that mode to its end, and `start` in the
# background:
#
#   start "$PROBE" signals     # options first, if any
#   ready                      # it wrote READY
#   signal TERM                # to init, from outside
#   expect "program 15 user 0" # the next line that it wrote
#   finish                     # waits; sets $status, and $stderr
#   is "$status" 0

helpers_folder=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
: "${BUILD:=${helpers_folder%/*}/build}"
: "${FOSTER:=$BUILD/foster}"
: "${PROBE:=$BUILD/probe}"
export BUILD FOSTER PROBE

# Seconds after which waiting fails. Long, since a machine may be busy: only
# what is broken ever waits so long.
: "${PATIENCE:=60}"

# ---- Around each test. A file with its own setup or teardown calls these.

setup() { common_setup; }
teardown() { common_teardown; }

common_setup() {
  local program
  for program in "$FOSTER" "$PROBE"; do
    [[ -x $program ]] || {
      echo "$program is missing: run this by make check" >&2
      return 1
    }
  done
  cd "$BATS_TEST_TMPDIR" || return
  trace_tests_alone
  # By this every process of the test is known, whatever became of it.
  export FOSTER_TEST_ID="$BATS_ROOT_PID.$$.$BATS_TEST_NUMBER.$RANDOM"
  unset FOSTER_OPTIONS DUMB_INIT_SETSID DUMB_INIT_DEBUG "${!TINI_@}"
  unset LISTEN_PID LISTEN_FDS WATCHDOG_PID
  forget_closed_folders
  ulimit -c 0
  MODE=plain
  INIT_COMMAND=("$FOSTER")
  WRAPPER=()
  JOB='' INIT='' STDOUT=''
}

# Before each command bats notes where the test stands, which takes longer than
# most of them, and all the more where they poll: not in these files, then. What
# fails here is noted as the call.
trace_tests_alone() {
  declare -F bats_debug_trap >/dev/null || return 0
  # In one line, since its lines are added to the test's.
  trap '[[ $BASH_SOURCE == "$helpers_folder"/*.bash ]] || bats_debug_trap "$BASH_SOURCE"' DEBUG
}

# What is found nowhere in PATH is not found, and 127; but where a folder in it
# may not be searched, as root's own often are for others, that is 126.
forget_closed_folders() {
  local folder searched='' IFS=:
  for folder in $PATH; do
    [[ ! -x $folder ]] || searched+=:$folder
  done
  PATH=${searched#:}
}

# Nothing may be left running: that is what an init is for.
common_teardown() {
  local left='' pid
  # A test that failed half-way leaves its init; that one is not to be blamed.
  if [[ -z ${BATS_TEST_COMPLETED:-} ]]; then
    kill_left_over
    return 0
  fi
  # Whatever was killed with its PID namespace may need a moment.
  if ! PATIENCE=10 wait_until nothing_left 2>/dev/null; then
    for pid in $(test_processes); do
      left+=" $pid ($(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline"))"
    done
    kill_left_over
    echo "left running:$left" >&2
    return 1
  fi
}

# The processes whose environment has this test's mark, but for who asks.
test_processes() { "$PROBE" marked "FOSTER_TEST_ID=$FOSTER_TEST_ID"; }

nothing_left() {
  local answer=0
  test_processes >/dev/null || answer=$?
  ((answer == 1))
}

kill_left_over() {
  local pid tries
  for tries in {1..50}; do
    nothing_left && return
    for pid in $(test_processes); do
      kill -KILL "$pid" 2>/dev/null || :
    done
    sleep 0.02
  done
  echo "not killed in $tries rounds" >&2
}

# ---- Ways to run init.

# As PID 1 of a PID namespace that it dies with; no root needed.
as_pid1() {
  requires pid_namespace
  MODE=pid1
  INIT_COMMAND=(unshare "${UNSHARE_FLAGS[@]}" "$FOSTER")
  "$@"
}

as_subreaper() {
  MODE=subreaper
  INIT_COMMAND=("$FOSTER" -s)
  "$@"
}

# Neither: it has no claim on orphans.
as_plain() {
  MODE=plain
  INIT_COMMAND=("$FOSTER")
  "$@"
}

# inside COMMAND [ARG...]: from now on init is exec'ed by this command, which
# runs where init does, e.g. in its PID namespace, as the same process.
inside() {
  local word command=()
  for word in "${INIT_COMMAND[@]}"; do
    [[ $word != "$FOSTER" ]] || command+=("$@")
    command+=("$word")
  done
  INIT_COMMAND=("${command[@]}")
}

# foster [OPTIONS] PROGRAM [ARG...]: run it to its end, in the foreground.
foster() { "${INIT_COMMAND[@]}" "$@"; }

# try COMMAND [ARG...]: like bats' run, which warns of an exit code of 127.
try() {
  status=0
  output=$("$@" 2>&1) || status=$?
  mapfile -t lines <<<"$output"
}

# start [OPTIONS] PROGRAM [ARG...]: run it in the background.
# JOB is what the shell waits for, INIT is init's pid as seen from here. Its
# stdin is file $STDIN, its stdout a FIFO for `expect` (or file $STDOUT_TO),
# its stderr the file stderr. A command in the array WRAPPER runs it all.
start() {
  if [[ -n ${STDOUT_TO-} ]]; then
    "${WRAPPER[@]}" "${INIT_COMMAND[@]}" "$@" \
      <"${STDIN:-/dev/null}" >"$STDOUT_TO" 2>stderr 3>&- &
  else
    [[ -n $STDOUT ]] && exec {STDOUT}>&-
    [[ ! -e stdout ]] || rm stdout
    mkfifo stdout
    exec {STDOUT}<>stdout
    "${WRAPPER[@]}" "${INIT_COMMAND[@]}" "$@" \
      <"${STDIN:-/dev/null}" >stdout 2>stderr 3>&- {STDOUT}>&- &
  fi
  JOB=$!
  INIT=''
  wait_until init_is_there
}

# Down from the job, through unshare or strace, to the process that is foster.
init_is_there() {
  local pid=$JOB child list
  until [[ /proc/$pid/exe -ef $FOSTER ]]; do
    # It may be over already.
    exists "$JOB" || return 0
    read_children "$pid"
    child=${list[0]-}
    # If it has become foster since, that may be foster's own child.
    [[ /proc/$pid/exe -ef $FOSTER ]] || pid=$child
    [[ -n $pid ]] || return
  done
  blocks_term "$pid" || has_children "$pid" || gone "$JOB" || return
  INIT=$pid
}

# Before init has blocked its signals they would end it. In rt_sigtimedwait,
# where it may wait in a sandbox, they do not read as blocked.
blocks_term() {
  local name value mask=0
  # To its end: what bash has not used yet of the file of a process that dies
  # meanwhile it cannot put back, and the next read would get it.
  while read -r name value; do
    [[ $name != SigBlk: ]] || mask=$value
  done 2>/dev/null <"/proc/$1/status"
  ((0x$mask & 1 << 14))
}

# finish: wait for the end of what `start` started. Sets status and stderr.
finish() {
  wait_until gone "$JOB"
  status=0
  wait "$JOB" || status=$?
  read_file stderr stderr
}

# read_file NAME FILE: like NAME=$(<FILE), without a fork.
read_file() {
  local text
  IFS= read -r -d '' text <"$2" || :
  while [[ $text == *$'\n' ]]; do
    text=${text%$'\n'}
  done
  printf -v "$1" %s "$text"
}

# signal SIGNAL...: send them to init, from outside, in this order.
signal() {
  local name
  for name; do
    kill -s "$name" "$INIT"
  done
}

# ---- What the program says.

# Read the next line of its stdout into $line.
next_line() {
  local deadline=$((SECONDS + PATIENCE)) part=''
  line=''
  until IFS= read -r -t 0.5 -u "$STDOUT" part && line+=$part; do
    line+=$part
    # Nobody is left that could say it; what was said before is read first.
    if gone "$JOB" && ! IFS= read -r -t 0 -u "$STDOUT"; then
      echo "no line, and no init any more; stderr: $(<stderr)" >&2
      return 1
    elif ((SECONDS > deadline)); then
      echo "no line in $PATIENCE s; stderr: $(<stderr)" >&2
      return 1
    fi
  done
}

# expect LINE: that is the next one.
expect() {
  local line=''
  next_line
  is "$line" "$1"
}

# Nothing was written that is not read yet.
expect_nothing_more() {
  local line=''
  if IFS= read -r -t 0.01 -u "$STDOUT" line; then
    echo "unexpected: $line" >&2
    return 1
  fi
}

ready() { expect READY; }

# ---- Processes.

exists() { [[ -e /proc/$1 ]]; }
# A zombie of ours is gone as well. The shell may have its status by now, or get
# it with the next wait: it waits for no zombie by itself while it only polls.
gone() {
  local stat=''
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
  [[ ${stat##*) } == "Z $BASHPID "* ]] || ! kill -0 "$1" 2>/dev/null
}

# Into $list: the children of a process, oldest first; each of its threads has
# its own. Without a fork, since all of this is polled.
read_children() {
  local file part
  list=()
  for file in "/proc/$1/task"/*/children; do
    part=()
    { read -r -d '' -a part <"$file"; } 2>/dev/null || :
    list+=("${part[@]}")
  done
}
children() {
  local list
  read_children "$1"
  echo "${list[*]}"
}
first_child() {
  local list
  read_children "$1"
  echo "${list[0]-}"
}
last_child() {
  local list
  read_children "$1"
  echo "${list[*]: -1}"
}
# Its entrypoint: the first child of an init that inherited none.
entrypoint() { first_child "$INIT"; }

# Into $state: R, S, D, T, t, Z, or nothing.
read_state() {
  local stat=''
  state=''
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
  stat=${stat##*) }
  state=${stat%% *}
}
state_of() {
  local state
  read_state "$1"
  echo "$state"
}
in_state() {
  local state
  read_state "$1"
  [[ $state == "$2" ]]
}

# How many zombies among the children of a process.
zombies_of() {
  local pid list state count=0
  read_children "$1"
  for pid in "${list[@]}"; do
    read_state "$pid"
    if [[ $state == Z ]]; then
      count=$((count + 1))
    fi
  done
  echo "$count"
}

has_children() {
  local list
  read_children "$1"
  ((${#list[@]}))
}
children_of_are() {
  local list
  read_children "$1"
  ((${#list[@]} == $2))
}

# Init is not woken for half a second, and uses no processor either. Once it
# may be: its start has a timer, of 10 ms.
no_wakeup() {
  local before try
  for try in 1 2; do
    wait_until in_state "$INIT" S
    before=$(switches)
    sleep 0.5
    [[ $(switches) != "$before" ]] || return 0
    echo "woken up (try $try)" >&2
  done
  return 1
}
switches() { grep ctxt_switches "/proc/$INIT/status"; }

# ---- Checks.

# is ACTUAL EXPECTED: fail, and show both, unless they are the same.
is() {
  [[ $1 == "$2" ]] && return
  printf 'is:     %s\nshould: %s\n' "$1" "$2" >&2
  return 1
}

# matches ACTUAL REGEX
matches() {
  [[ $1 =~ $2 ]] && return
  printf 'is:           %s\nshould match: %s\n' "$1" "$2" >&2
  return 1
}

# wait_until COMMAND [ARG...]: poll until it succeeds; fail after PATIENCE.
wait_until() {
  local deadline=$((${EPOCHREALTIME/[.,]/} + PATIENCE * 1000000))
  until "$@"; do
    if ((${EPOCHREALTIME/[.,]/} > deadline)); then
      echo "not in $PATIENCE s: $*" >&2
      return 1
    fi
    moment
  done
}

# A moment, without a fork: a FIFO that nobody writes to has nothing to read.
moment() {
  local fifo=$BATS_RUN_TMPDIR/never
  [[ -p $fifo ]] || mkfifo -m 666 "$fifo"
  IFS= read -r -t 0.01 <>"$fifo" || :
}

# Microseconds since some moment, for measuring.
clock() { echo "${EPOCHREALTIME/[.,]/}"; }

# ---- What a test needs of the machine.

# requires WORD...: skip with a reason where it is missing. Where FOSTER_NO_SKIP
# is set, as in CI, that is a failure: nothing may be skipped unseen.
requires() {
  local word reason
  for word; do
    reason=''
    case $word in
    pid_namespace)
      find_unshare_flags || reason="no PID namespaces here"
      ;;
    private_pid_max)
      # Before Linux 6.14 it is the whole machine's.
      kernel_is 6 14 || reason="pid_max is not a namespace's own"
      find_unshare_flags || reason="no PID namespaces here"
      ;;
    group_values)
      kernel_is 6 9 || reason="no queued signal for groups before Linux 6.9"
      ;;
    memory_cgroup)
      find_memory_cgroup || reason="no memory cgroup can be made here"
      ;;
    root)
      ((EUID == 0)) || reason="only for root"
      ;;
    not_root)
      ((EUID != 0)) || reason="not for root"
      ;;
    busybox | cc | clang | docker | gdb | git | gcc | jq | less | man | mandoc | \
      musl-gcc | podman | prlimit | python3 | qemu-aarch64-static | readelf | runc | \
      setpriv | strace | sudo | timeout | tini | tmux | vi)
      command -v "$word" >/dev/null || reason="$word is not installed"
      ;;
    *)
      echo "requires: unknown word: $word" >&2
      return 1
      ;;
    esac
    [[ -z $reason ]] || skip "$reason"
  done
}

# Also for the plain skip of bats.
eval "bats_$(declare -f skip)"
skip() {
  if [[ -n ${FOSTER_NO_SKIP-} ]]; then
    echo "may not be skipped: $*" >&2
    return 1
  fi
  bats_skip "$@"
}

kernel_is() {
  local major minor
  IFS=.- read -r major minor _ </proc/sys/kernel/osrelease
  ((major > $1 || (major == $1 && minor >= $2)))
}

# With a user namespace wherever that works, so that root and others run the
# same; else, as root in a container that has none, without.
find_unshare_flags() {
  [[ -n ${UNSHARE_FLAGS-} ]] && return
  # Found once for all tests of a run.
  local flags known=$BATS_RUN_TMPDIR/unshare-flags
  if [[ -e $known ]]; then
    read -r flags <"$known"
    UNSHARE_FLAGS=("$flags" --mount-proc --kill-child)
    return
  fi
  for flags in -Urpf -pf; do
    UNSHARE_FLAGS=("$flags" --mount-proc --kill-child)
    if unshare "${UNSHARE_FLAGS[@]}" true 2>/dev/null; then
      echo "$flags" >"$known"
      return
    fi
  done
  UNSHARE_FLAGS=()
  return 1
}

# Where one can be made, and which of its files has the limit.
find_memory_cgroup() {
  local try
  for MEMORY_CGROUP in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    MEMORY_LIMIT=memory.limit_in_bytes
    [[ $MEMORY_CGROUP == */memory ]] || MEMORY_LIMIT=memory.max
    try=$MEMORY_CGROUP/foster-try.$$
    mkdir "$try" 2>/dev/null || continue
    [[ -e $try/$MEMORY_LIMIT ]] && rmdir "$try" && return
    rmdir "$try"
  done
  return 1
}
