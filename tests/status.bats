# foster --status: what is to be seen of a running init, by whom, and that
# nobody who looks can harm it.

load helpers

setup() {
  requires jq
  common_setup
}

# beside COMMAND [ARG...]: run it where init runs, so in its PID namespace.
beside() {
  if [[ $MODE != pid1 ]]; then
    "$@"
  elif [[ ${UNSHARE_FLAGS[0]} == -U* ]]; then
    nsenter -t "$INIT" -U -p -m --preserve-credentials -- "$@"
  else
    nsenter -t "$INIT" -p -m -- "$@"
  fi
}

# The pid of init as init itself knows it.
own_pid() { [[ $MODE == pid1 ]] && echo 1 || echo "$INIT"; }

# shown FILTER: what jq makes of the status, on one line.
shown() { "$FOSTER" --status="$INIT" | jq -cr "$1"; }
shows() { [[ $(shown "$1") == "$2" ]]; }

# Of the same shape for every foster.
shape='
  def count: type == "number" and . >= 0 and . == floor;
  def text: type == "string" and . != "";
  (keys_unsorted == ["version", "pid", "mode", "state", "entrypoint",
    "uptime_seconds", "orphans_reaped", "left_behind", "signals_forwarded",
    "last_signal", "zombies"]) and
  (.version | text) and
  (.pid | count) and
  (.mode | IN("pid1", "subreaper", "plain")) and
  (.state | IN("running", "stopped", "draining", "paused")) and
  (.entrypoint | . == null or (keys_unsorted == ["pid", "start_time", "command"]
    and (.pid | count) and (.start_time | type == "number" and . > 1.7e9)
    and (.command | type == "string"))) and
  (.uptime_seconds | type == "number" and . >= 0) and
  (.orphans_reaped | count) and
  (.left_behind | count) and
  (.signals_forwarded | type == "object" and all(.[]; count and . > 0)) and
  (.last_signal | . == null or (keys_unsorted ==
    ["name", "sender_pid", "sender_uid"] and (.name | text)
    and (.sender_pid | count) and (.sender_uid | count))) and
  (.zombies | . == null or (keys_unsorted == ["count", "by_parent"]
    and (.count | count) and (.by_parent | all(.[];
      keys_unsorted == ["pid", "name", "count"] and (.count | count)))))'

every_field() {
  local before after
  before=$EPOCHREALTIME
  start "$PROBE" signals
  ready
  after=$EPOCHREALTIME
  "$FOSTER" --status="$INIT" >one
  is "$(wc -l <one)" 1
  jq -es "length == 1 and (.[0] | ($shape))" one
  is "$(shown .pid)" "$(own_pid)"
  is "$(shown .mode)" "$MODE"
  is "$(shown .state)" running
  is "$(shown .entrypoint.command)" "$PROBE"
  shown .entrypoint.start_time >started
  # Rounded down to milliseconds.
  awk -v a="$before" -v b="$after" '{ exit !($1 >= a - 0.001 && $1 <= b) }' \
    started
  is "$(shown .signals_forwarded)" '{}'
  is "$(shown .last_signal)" null
  if [[ $MODE != pid1 ]]; then
    is "$(shown .entrypoint.pid)" "$(entrypoint)"
  fi
  signal USR1
  expect "program 10 user 0"
  jq -es "length == 1 and (.[0] | ($shape))" < <("$FOSTER" --status="$INIT")
  is "$(shown .signals_forwarded)" '{"SIGUSR1":1}'
  signal TERM
  finish
}
@test "status: every field is there, of its type: as PID 1" { as_pid1 every_field; }
@test "status: every field is there, of its type: as a subreaper" { as_subreaper every_field; }
@test "status: every field is there, of its type: as neither" { as_plain every_field; }

exact_counts() {
  local i sender=$BASHPID
  start -R report "$PROBE" orphans 5000
  PATIENCE=200 ready
  # The last few may be on their way.
  wait_until shows .orphans_reaped 5000
  for ((i = 0; i < 100; i++)); do
    signal RTMIN+1 RTMIN RTMAX
  done
  wait_until shows .last_signal.name SIGRTMAX
  wait_until shows .signals_forwarded \
    '{"SIGRTMIN":100,"SIGRTMIN+1":100,"SIGRTMAX":100}'
  is "$(shown .orphans_reaped)" 5000
  # Seen from inside a PID namespace nobody outside has a number.
  [[ $MODE != pid1 ]] || sender=0
  is "$(shown .last_signal.sender_pid)" "$sender"
  [[ $MODE == pid1 ]] ||
    is "$(shown .last_signal.sender_uid)" "$EUID"
  is "$(beside "$FOSTER" --status="$(own_pid)" | jq -c .zombies)" \
    '{"count":0,"by_parent":[]}'
  signal TERM
  finish
  is "$(jq -c '[.orphans_reaped, .signals_forwarded, .last_signal.name]' report)" \
    '[5000,{"SIGTERM":1,"SIGRTMIN":100,"SIGRTMIN+1":100,"SIGRTMAX":100},"SIGTERM"]'
}
@test "status: counts are exact after 5,000 orphans and 300 signals: as PID 1" { as_pid1 exact_counts; }
@test "status: counts are exact after 5,000 orphans and 300 signals: as a subreaper" { as_subreaper exact_counts; }

every_state() {
  local child
  start -k 20 sh -c 'trap "" TERM; "$0" ignore 15 & exec "$0" hold' "$PROBE"
  ready
  ready
  is "$(shown .state)" running
  child=$(entrypoint)
  kill -STOP "$child"
  wait_until shows .state stopped
  kill -CONT "$child"
  wait_until shows .state running
  is "$(shown .left_behind)" 0
  kill -KILL "$child"
  wait_until shows .state draining
  wait_until shows .left_behind 1
  kill -KILL "$(first_child "$INIT")"
  finish
  is "$status" 137
}
@test "status: running, stopped, draining, and what was left behind: as PID 1" { as_pid1 every_state; }
@test "status: running, stopped, draining, and what was left behind: as a subreaper" { as_subreaper every_state; }

paused() {
  start -P
  wait_until shows '[.state, .entrypoint]' '["paused",null]'
  jq -es "length == 1 and (.[0] | ($shape))" < <("$FOSTER" --status="$INIT")
  signal TERM
  finish
  is "$status" 0
}
@test "status: paused, without an entrypoint: as PID 1" { as_pid1 paused; }
@test "status: paused, without an entrypoint: as a subreaper" { as_subreaper paused; }

# ---- Zombies.

zombies_by_parent() {
  start sh -c '"$0" negligent 7 & "$0" negligent 2; :' "$PROBE"
  ready
  ready
  beside "$FOSTER" --status="$(own_pid)" >one
  is "$(jq -c .zombies.count one)" 9
  is "$(jq -c '[.zombies.by_parent[] | [.name, .count]] | sort' one)" \
    '[["probe",2],["probe",7]]'
  # By the numbers that are valid where it was asked.
  local pid
  for pid in $(jq '.zombies.by_parent[].pid' one); do
    is "$(beside cat "/proc/$pid/comm")" probe
  done
  # From outside the numbers would be others', so there are none.
  [[ $MODE != pid1 ]] || is "$(shown .zombies)" null
  signal KILL
  finish
}
@test "status: zombies are counted by the parent that never waits: as PID 1" { as_pid1 zombies_by_parent; }
@test "status: zombies are counted by the parent that never waits: as a subreaper" {
  # Killed, it could not see to them.
  as_pid1 inside_a_namespace zombies_by_parent_of_a_subreaper
}
inside_a_namespace() { "$@"; }
zombies_by_parent_of_a_subreaper() {
  foster sh -c '
    "$FOSTER" -s "$PROBE" negligent 5 >ready & init=$!
    until grep -qs READY ready; do :; done
    "$FOSTER" --status=$init; kill $init' >one
  is "$(jq -c '.zombies | [.count, .by_parent[0].name]' one)" '[5,"probe"]'
}

others_zombies() {
  mkfifo theirs
  "$PROBE" negligent 3 >theirs 3>&- &
  local other=$! line
  read -r -t "$PATIENCE" line <theirs
  start "$PROBE" negligent 2
  ready
  is "$(shown .zombies.count)" 2
  kill "$other"
  wait "$other" || :
  signal TERM
  finish
}
@test "status: zombies of others are not counted: as a subreaper" { as_subreaper others_zombies; }
@test "status: zombies of others are not counted: as neither" { as_plain others_zombies; }

more_parents_than_are_named() {
  start sh -c 'i=0
    while [ $i -lt 70 ]; do "$0" negligent 2 & i=$((i + 1)); done; wait' "$PROBE"
  local i
  for ((i = 0; i < 70; i++)); do
    ready
  done
  is "$(shown '.zombies | [.count, (.by_parent | length), ([.by_parent[].count] | add)]')" \
    '[140,65,140]'
  is "$(shown '.zombies.by_parent[64]')" '{"pid":null,"name":null,"count":12}'
  signal TERM
  finish
}
@test "status: zombies of more parents than it names are still counted" { as_subreaper more_parents_than_are_named; }

leader_is_no_zombie() {
  start "$PROBE" leader
  wait_until leader_has_ended
  is "$(shown .zombies.count)" 0
  signal TERM
  finish
}
# Asked anew each time: init may not have spawned yet.
leader_has_ended() { in_state "$(entrypoint)" Z; }
@test "status: a process whose main thread has ended is no zombie" { as_subreaper leader_is_no_zombie; }

# ---- Strings.

any_name() {
  local name=$'a"b\\c\n\e\xff\xc3\xa4 (){}'
  cp "$PROBE" "$name"
  start "./$name" hold
  ready
  "$FOSTER" --status="$INIT" >one
  jq -es "length == 1 and (.[0] | ($shape))" one
  is "$(wc -l <one)" 1
  # What is no UTF-8 is shown as if it were Latin-1.
  is "$(jq -r .entrypoint.command one)" $'./a"b\\c\n\e\xc3\xbf\xc3\xa4 (){}'
  signal TERM
  finish

  # The parent of a zombie, with a name that looks like more of its stat.
  name=$'a) Z 1 (\n"\xff'
  cp "$PROBE" "$name"
  start "./$name" negligent 1
  ready
  is "$(shown '[.zombies.count, .zombies.by_parent[0].name]')" \
    '[1,"a) Z 1 (\n\"ÿ"]'
  signal TERM
  finish
}
@test "status: a name of any bytes is valid JSON" { as_subreaper any_name; }

long_command() {
  local folder name
  printf -v folder '%0200d' 0
  mkdir "$folder"
  cp "$PROBE" "$folder/$folder"
  start "./$folder/$folder" hold
  ready
  name=$(shown .entrypoint.command)
  is "$name" "$(cut -c -255 <<<"./$folder/$folder")"
  signal TERM
  finish
}
@test "status: a long command is cut off" { as_subreaper long_command; }

# ---- Who may look, and what is told to the others.

@test "status: no such process" {
  run "$FOSTER" --status=2147483647
  is "$status $output" "1 foster: process 2147483647: no such process"
}

@test "status: a process that is no foster" {
  run "$FOSTER" --status=$$
  is "$status $output" "1 foster: process $$: '$(<"/proc/$$/comm")' is not foster, or has no status to show"
}

another_user() {
  requires root setpriv
  start "$PROBE" hold
  ready
  # Its folder may be closed to that user; a descriptor is not.
  run setpriv --reuid=1234 --regid=1234 --clear-groups \
    /proc/self/fd/9 --status="$INIT" 9<"$FOSTER"
  is "$status $output" "1 foster: process $INIT: not permitted: be its user (docker exec -u 0), or CAP_SYS_PTRACE"
  # Root itself needs the capability, but for a namespace that it made.
  [[ $MODE == pid1 ]] || root_without_capabilities
  signal TERM
  finish
}
root_without_capabilities() {
  run setpriv --bounding-set=-all --inh-caps=-all "$FOSTER" --status="$INIT"
  is "$status $output" "1 foster: process $INIT: not permitted: it has privileges that we lack: have them, or CAP_SYS_PTRACE"
}
@test "status: another user is told what would permit it: as PID 1" { as_pid1 another_user; }
@test "status: another user is told what would permit it: as a subreaper" { as_subreaper another_user; }

@test "status: the same user without any capability" {
  requires root setpriv
  WRAPPER=(setpriv --reuid=1234 --regid=1234 --clear-groups
    --bounding-set=-all --inh-caps=-all --no-new-privs)
  exec 8<"$PROBE" 9<"$FOSTER"
  FOSTER=/proc/self/fd/9
  INIT_COMMAND=("$FOSTER" -s)
  "${WRAPPER[@]}" "$FOSTER" -s /proc/self/fd/8 hold >/dev/null 3>&- &
  INIT=$!
  wait_until shows_to_1234
  kill "$INIT"
  wait "$INIT" || is $? 143
}
shows_to_1234() {
  "${WRAPPER[@]}" /proc/self/fd/9 --status="$INIT" 2>/dev/null >one &&
    jq -es "length == 1 and (.[0] | ($shape))" one
}

# Each of the three reads that make a copy. Sanitizers need shared libraries, and
# those are read so as well.
# bats test_tags=not-asan
@test "status: a page that is cut short is none" {
  requires strace
  as_subreaper start "$PROBE" hold
  ready
  wait_until shows .state running
  # Of the same file it would wait for another page to come.
  cp "$FOSTER" reader
  local read
  for read in 1 2 3; do
    run strace -qq -o trace -e trace=pread64 \
      -e inject=pread64:retval=3:when="$read" ./reader --status="$INIT"
    is "$(wc -l <trace)" "$read"
    is "$status $output" "1 foster: process $INIT: '$(<"/proc/$INIT/comm")' is not foster, or has no status to show"
  done
  signal TERM
  finish
}

# The sanitizers' own start needs /proc.
# bats test_tags=not-asan
@test "status: without /proc" {
  requires pid_namespace
  run unshare "${UNSHARE_FLAGS[@]}" sh -c 'mount -t tmpfs none /proc &&
    "$FOSTER" --status=$$'
  is "$status $output" "1 foster: process 1: not to be seen in /proc (not mounted? hidepid?)"
}

@test "status: what cannot be written to stdout is an error" {
  as_subreaper start "$PROBE" hold
  ready
  run sh -c '"$FOSTER" --status="$0" >/dev/full' "$INIT"
  is "$status $output" "1 foster: stdout: no space left on device"
  run sh -c '"$FOSTER" --status="$0" >&-' "$INIT"
  is "$status $output" "1 foster: stdout: bad file descriptor"
  signal TERM
  finish
}

# ---- Without a PID.

@test "status: without a PID it is PID 1, or the only foster to be seen" {
  requires pid_namespace
  as_pid1 start "$PROBE" hold
  ready
  is "$(MODE=pid1 beside "$FOSTER" --status | jq -c '[.pid, .mode]')" '[1,"pid1"]'
  signal TERM
  finish

  cat >script <<'END'
    "$FOSTER" --status; echo "none: $?"
    "$FOSTER" -s "$PROBE" hold >first & first=$!
    until grep -qs READY first; do :; done
    until "$FOSTER" --status | jq -c "[.pid == $first, .mode]"; do :; done
    # Who holds the page of another is no foster.
    exec 9</proc/$first/fd/$(ls -l /proc/$first/fd |
      sed -n 's/.* \([0-9]*\) -> .memfd:foster-status.*/\1/p')
    "$FOSTER" --status=$$; echo "holder: $?"
    "$FOSTER" --status | jq -c ".pid == $first"
    "$FOSTER" -s "$PROBE" hold >second & second=$!
    until grep -qs READY second; do :; done
    until "$FOSTER" --status=$second >/dev/null; do :; done
    "$FOSTER" --status 2>&1 | sed "s/$first/FIRST/;s/$second/SECOND/"
    kill $first $second
    wait
END
  run unshare "${UNSHARE_FLAGS[@]}" sh script
  is "$output" "foster: process 1: 'sh' is not foster, or has no status to show
none: 1
[true,\"subreaper\"]
foster: process 1: 'sh' is not foster, or has no status to show
holder: 1
true
foster: which one? --status=PID, where PID is one of FIRST, SECOND"
}

# ---- Harm.

attacked() {
  start "$PROBE" orphans 10 held
  ready
  wait_until shows .state running # and the page is there
  run "$PROBE" attack "$INIT"
  is "$output" "grow: refused
append: refused
write: refused
punch: refused
map for writing: refused
map, then make it writable: refused
seal: refused
truncate: refused"
  # It lives on, and what it stores is seen.
  signal USR1
  wait_until shows .orphans_reaped 10
  signal TERM
  finish
  is "$status" 0
}
@test "status: another process of the user cannot harm the page: as PID 1" { as_pid1 attacked; }
@test "status: another process of the user cannot harm the page: as a subreaper" { as_subreaper attacked; }

read_in_a_storm() {
  requires private_pid_max
  local reads=0 end=$((SECONDS + 20))
  inside sh -c 'echo 400 >/proc/sys/kernel/pid_max && exec "$@"' sh
  # The storm comes after everybody else, or a busy machine is at it for long;
  # a very busy one reads less often.
  start nice -n 19 "$PROBE" storm 8 290
  ready
  while ((reads < ${STATUS_READS:-500} && (SECONDS < end || reads < 100))); do
    "$FOSTER" --status="$INIT"
    reads=$((reads + 1))
  done >all
  signal TERM
  finish
  is "$status" 0
  is "$(wc -l <all)" "$reads"
  is "$(jq -s "all(.[]; $shape)" all)" true
  # One moment each, and never an earlier one.
  is "$(jq -s '[.[].orphans_reaped] | . == sort and .[-1] > .[0]' all)" true
}
# bats test_tags=storm
@test "status: read 500 times in a fork storm it always parses" { as_pid1 read_in_a_storm; }

hostile() {
  local file=$1 size=$2 pid line # sets result
  mkfifo theirs
  # Seen by the reader as any process's page.
  "$PROBE" page "$size" <"$file" >theirs 3>&- &
  pid=$!
  read -r -t "$PATIENCE" line <theirs
  rm theirs
  run "$FOSTER" --status="$pid"
  kill "$pid"
  wait "$pid" || :
  result="$status ${output//$pid/PID}"
}
@test "status: a hostile page is refused" {
  local corpus=${BATS_TEST_FILENAME%/*}/fuzz/corpus/status name
  local refused="foster: process PID: 'probe' is not foster, or has no status to show"
  # It would be taken, were nothing wrong with it.
  hostile "$corpus/running" 4096
  is "$status" 0
  jq -es "length == 1 and (.[0] | ($shape))" <<<"$output"
  hostile "$corpus/largest" 4096
  is "$status" 0
  jq -es "length == 1 and (.[0] | ($shape))" <<<"$output"
  for name in 0 4095 4097 1048576; do
    hostile "$corpus/running" "$name"
    is "$name: $result" "$name: 1 $refused"
  done
  for name in unterminated mode negative; do
    hostile "$corpus/$name" 4096
    is "$name: $result" "$name: 1 $refused"
  done
  hostile "$corpus/layout-2" 4096
  is "$result" \
    "1 foster: process PID: of another version, with status layout 2"
}

# ---- Where there is no page.

without_a_page() {
  requires strace
  WRAPPER=(strace -f -o trace -e "inject=$1")
  start "$PROBE" orphans 3
  ready
  run "$FOSTER" --status="$INIT"
  is "$status" "$2"
  signal TERM
  finish
  is "$status $stderr" "0 "
}
@test "status: an old kernel that knows no MFD_NOEXEC_SEAL has a page" { as_subreaper without_a_page memfd_create:error=EINVAL:when=1 0; }
@test "status: without memfd_create there is no page, and no word" { as_subreaper without_a_page memfd_create:error=ENOSYS 1; }
@test "status: without seals there is no page, and no word" { as_subreaper without_a_page ftruncate:error=EPERM 1; }

@test "status: with a file size limit of 0 the program gets no signal" {
  as_plain without_files
}
without_files() {
  # shellcheck disable=SC2016
  WRAPPER=(sh -c 'ulimit -f 0; exec "$0" "$@"')
  start "$PROBE" signals
  ready
  run "$FOSTER" --status="$INIT"
  is "$status" 1
  signal TERM
  expect "program 15 user 0"
  finish
}

# A short program waits for no page, so it comes a moment after the start, and
# then it is the reader who waits.
page_is_waited_for() {
  requires strace
  WRAPPER=(strace -qq -o /dev/null -e trace=memfd_create
    -e inject=memfd_create:delay_enter=500000)
  start "$PROBE" signals
  shows .state running
  signal KILL
  finish
}
@test "status: of an init that has just started it waits for the page" { as_plain page_is_waited_for; }
