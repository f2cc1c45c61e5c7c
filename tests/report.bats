# --report: one JSON object about how the run ended, wherever it is to go.

bats_require_minimum_version 1.5.0
load helpers

setup() {
  requires jq
  common_setup
}

shape='
  def count: type == "number" and . >= 0 and . == floor;
  (keys_unsorted == ["version", "pid", "mode", "state", "entrypoint",
    "uptime_seconds", "orphans_reaped", "left_behind", "signals_forwarded",
    "last_signal", "exit_code", "signal", "core_dumped", "oom_kill",
    "killed_after_grace", "user_seconds", "system_seconds", "max_rss_kib",
    "error"]) and
  (.version | type == "string" and . != "") and
  (.pid | count) and
  (.mode | IN("pid1", "subreaper", "plain")) and
  (.state | IN("draining", "ended")) and
  (.uptime_seconds | type == "number" and . >= 0 and . < 300) and
  (.exit_code | count and . < 256) and
  (.signal | . == null or (type == "string" and startswith("SIG"))) and
  (.core_dumped | type == "boolean") and
  (.oom_kill | type == "boolean") and
  (.killed_after_grace | count) and
  (.user_seconds, .system_seconds | type == "number" and . >= 0) and
  (.max_rss_kib | count) and
  (.error | . == null or (type == "string" and . != ""))'

# One line, one object, of that shape.
is_report() {
  is "$(wc -l <"$1")" 1
  jq -es "length == 1 and (.[0] | ($shape))" "$1" >/dev/null || {
    cat "$1" >&2
    return 1
  }
}
told() { jq -c "$1" report; }

exit_codes() {
  run foster -R report -e 4 sh -c 'exit 3'
  is "$status $output" "3 "
  is_report report
  is "$(told '[.mode, .state, .exit_code, .signal, .error, .left_behind]')" \
    "[\"$MODE\",\"ended\",3,null,null,0]"
  is "$(told .entrypoint.command)" '"sh"'
  # What foster itself exits with.
  run foster --report=report -e 4 sh -c 'exit 4'
  is "$status" 0
  is "$(told '[.exit_code, .signal]')" '[0,null]'
  run foster -R report sh -c 'kill -USR1 $$'
  is "$status" 138
  is_report report
  is "$(told '[.exit_code, .signal, .core_dumped]')" '[138,"SIGUSR1",false]'
}
@test "report: the exit code or signal: as PID 1" { as_pid1 exit_codes; }
@test "report: the exit code or signal: as a subreaper" { as_subreaper exit_codes; }
@test "report: the exit code or signal: as neither" { as_plain exit_codes; }

usage() {
  # Until some of the processor time is known to be its own: "0m0.010000s".
  # shellcheck disable=SC2016
  run foster -R report sh -c 'own=
    until case $own in *[1-9]*s) ;; *) false ;; esac; do
      i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
      times >own
      read -r own system <own
    done'
  is_report report
  told '.user_seconds > 0 and .max_rss_kib > 100 and
    .uptime_seconds >= .user_seconds' | grep -x true
}
@test "report: what the entrypoint used" { as_subreaper usage; }

killed_after_grace() {
  start -k 0.2 -R report sh -c '"$0" ignore 15 & exec "$0" hold' "$PROBE"
  ready
  ready
  kill -USR1 "$(entrypoint)"
  finish
  is "$status" 138
  is_report report
  is "$(told '[.state, .signal, .left_behind, .killed_after_grace]')" \
    '["ended","SIGUSR1",1,1]'
}
@test "report: what had to be killed: as PID 1" { as_pid1 killed_after_grace; }
@test "report: what had to be killed: as a subreaper" { as_subreaper killed_after_grace; }

# The first report is there while the drain goes on, and survives init.
killed_in_the_drain() {
  echo stale >report
  start -k inf -R report sh -c '"$0" ignore 15 & exec "$0" hold' "$PROBE"
  ready
  ready
  # An older report would be taken for this run's.
  is "$(<report)" ""
  kill -USR1 "$(entrypoint)"
  wait_until test -s report
  is_report report
  is "$(told '[.state, .exit_code, .signal]')" '["draining",138,"SIGUSR1"]'
  local orphan
  orphan=$(first_child "$INIT")
  kill -KILL "$INIT"
  [[ $MODE == pid1 ]] || kill -KILL "$orphan"
  finish
  is_report report
  is "$(told '[.state, .exit_code, .signal]')" '["draining",138,"SIGUSR1"]'
}
@test "report: a kill during the drain does not lose it: as PID 1" { as_pid1 killed_in_the_drain; }
@test "report: a kill during the drain does not lose it: as a subreaper" { as_subreaper killed_in_the_drain; }

exec_failed() {
  run -127 foster -R report ./missing
  is_report report
  is "$(told '[.state, .entrypoint, .exit_code, .signal, .orphans_reaped]')" \
    '["ended",null,127,null,0]'
  is "foster: $(jq -r .error report)" "$output"
  echo >plain
  run foster -R report ./plain
  is "$status" 126
  is_report report
  is "foster: $(jq -r .error report)" "$output"
}
@test "report: a failed exec: as PID 1" { as_pid1 exec_failed; }
@test "report: a failed exec: as a subreaper" { as_subreaper exec_failed; }

to_a_fifo() {
  mkfifo fifo
  # Both ends, so that it need not be opened in step.
  exec {fifo}<>fifo
  run foster -R fifo sh -c 'exit 7'
  is "$status $output" "7 "
  IFS= read -r -t "$PATIENCE" -u "$fifo" line
  echo "$line" >report
  is_report report
  is "$(told .exit_code)" 7
  # Once, and a failed exec too.
  run -127 foster -R fifo ./missing
  IFS= read -r -t "$PATIENCE" -u "$fifo" line
  echo "$line" >report
  is_report report
  is "$(told .exit_code)" 127
  exec {fifo}>&-
  # Without a reader: an error now, not a wait.
  run foster -R fifo touch ran
  is "$status $output" "125 foster: fifo: cannot open the report: no such device or address"
  [[ ! -e ran ]]
}
@test "report: to a FIFO: as PID 1" { as_pid1 to_a_fifo; }
@test "report: to a FIFO: as a subreaper" { as_subreaper to_a_fifo; }

fifo_without_room() {
  mkfifo fifo
  exec {fifo}<>fifo
  # Fill it. dd alone opens it without waiting.
  dd if=/dev/zero of=fifo bs=64k count=1 oflag=nonblock conv=notrunc \
    status=none 2>/dev/null || :
  dd if=/dev/zero of=fifo bs=4k count=1024 oflag=nonblock conv=notrunc \
    status=none 2>/dev/null || :
  run foster -R fifo sh -c 'exit 7'
  exec {fifo}>&-
  is "$status $output" \
    "7 foster: cannot write the report to 'fifo': resource temporarily unavailable"
}
@test "report: nobody waits for a full FIFO" { as_subreaper fifo_without_room; }

fifo_left_by_its_reader() {
  mkfifo fifo gate
  exec {fifo}<>fifo
  # Only this shell is to have the other end.
  WRAPPER=(bash -c "exec \"\$@\" $fifo>&-" bash)
  start -R fifo sh -c 'echo READY; read -r go <gate; exit 7'
  ready
  exec {fifo}>&-
  echo go >gate
  finish
  is "$status $stderr" "7 foster: cannot write the report to 'fifo': broken pipe"
}
@test "report: a FIFO whose reader has gone: as PID 1" { as_pid1 fifo_left_by_its_reader; }
@test "report: a FIFO whose reader has gone: as a subreaper" { as_subreaper fifo_left_by_its_reader; }

standard_streams() {
  # A pipe, which could be opened anew.
  foster -R /dev/stderr sh -c 'echo program >&2; exit 0' 2>&1 | cat >all
  is "$(head -n 1 all)" program
  sed 1d all >report
  is_report report
  foster -R /dev/stdout echo program | cat >all
  is "$(head -n 1 all)" program
  sed 1d all >report
  is_report report
  # A log that others write to as well: neither emptied nor written over.
  echo before >log
  foster -R /dev/stderr sh -c 'echo program >&2; "$0" ignore 15 >&2 & exit 5' \
    /bin/true 2>>log || is $? 5
  is "$(sed -n 1p log)" before
  sed 1,2d log >report
  is "$(sed -n 2p log)" program
  is_report report
}
@test "report: to stdout and stderr: as PID 1" { as_pid1 standard_streams; }
@test "report: to stdout and stderr: as a subreaper" { as_subreaper standard_streams; }

@test "report: to a stderr that is a socket, which cannot be opened" {
  requires python3
  run python3 - "$FOSTER" <<'END'
import socket, subprocess, sys
a, b = socket.socketpair()
subprocess.run([sys.argv[1], "-R", "/dev/stderr", "sh", "-c", "exit 9"], stderr=b)
b.close()
print(a.makefile().read(), end="")
END
  echo "$output" >report
  is_report report
  is "$(told .exit_code)" 9
}

@test "report: a wrong path is a usage error, and nothing runs" {
  run foster -R missing/report touch ran
  is "$status $output" "125 foster: missing/report: cannot open the report: no such file or directory"
  run foster -R . touch ran
  is "$status $output" "125 foster: .: cannot open the report: is a directory"
  run sh -c '"$FOSTER" -R /dev/stdout touch ran >&-'
  is "$status $output" "125 foster: /dev/stdout: cannot open the report: bad file descriptor"
  [[ ! -e ran ]]
}

@test "report: what cannot be written is one warning, and the exit code stays" {
  run foster -R /dev/full sh -c 'exit 7'
  is "$status $output" "7 foster: cannot write the report to '/dev/full': no space left on device"
  run sh -c 'ulimit -f 0; exec "$FOSTER" -s -R report sh -c "exit 7"'
  is "$status $output" "7 foster: cannot write the report to 'report': file too large"
}

# As on a disk that is full before its end.
@test "report: one that is cut short is one warning, and the exit code stays" {
  requires prlimit
  run prlimit --fsize=100 "$FOSTER" -s -R report sh -c 'exit 7'
  is "$status $output" "7 foster: cannot write the report to 'report': no space left on device"
  is "$(wc -c <report)" 100
}

@test "report: the program is not given its descriptor" {
  run foster -R report "$PROBE" descriptors
  [[ $output != *report* ]]
  run foster -R /dev/stderr "$PROBE" descriptors
  is "$(grep -c '^[0-9]' <<<"$output")" "$("$PROBE" descriptors | grep -c '^[0-9]')"
}

same_file() {
  # A program may leave a message of its own there: init has the last word.
  run foster -R report sh -c 'seq 1 5000 >report; exit 7'
  is "$status" 7
  is_report report
  # Its name is gone, or another file has it: the one opened is written.
  mkfifo gate
  start -R report sh -c 'echo READY; read -r go <gate; exit 7'
  ready
  mv report moved
  echo untouched >report
  echo go >gate
  finish
  is "$(<report)" untouched
  is_report moved
}
@test "report: into the file that was opened: as PID 1" { as_pid1 same_file; }
@test "report: into the file that was opened: as a subreaper" { as_subreaper same_file; }

paused() {
  start -P -R report
  wait_until test -e report
  wait_until status_is_there
  signal TERM
  finish
  is "$status" 0
  is_report report
  is "$(told '[.entrypoint, .exit_code, .state, .last_signal.name]')" \
    '[null,0,"ended","SIGTERM"]'
}
status_is_there() { "$FOSTER" --status="$INIT" >/dev/null; }
@test "report: of a pause: as PID 1" { as_pid1 paused; }
@test "report: of a pause: as a subreaper" { as_subreaper paused; }

# README has this example.
@test "report: a Prometheus textfile by jq" {
  run foster -s -R report sh -c '(:) & wait; exit 3'
  jq -r 'to_entries[] | select(.value | type == "number" or type == "boolean")
    | "foster_\(.key) \(if .value == true then 1 elif .value == false then 0
      else .value end)"' report >textfile
  grep -x 'foster_exit_code 3' textfile
  grep -xE 'foster_uptime_seconds [0-9.]+' textfile
  grep -x 'foster_oom_kill 0' textfile
  # Name, blank, number: nothing else is a metric.
  run grep -vE '^foster_[a-z_]+ [0-9]+(\.[0-9]+)?$' textfile
  is "$output" ""
}
