#!/usr/bin/env bats
# Job control, as if foster were not there.

load helpers
load terminal

setup() {
  common_setup
  # What a typed line runs.
  P=$PROBE
}

# Other inits know no -s; tests/terminal-matrix runs them here too.
as_subreaper() {
  MODE=subreaper
  # shellcheck disable=SC2206
  INIT_COMMAND=("$FOSTER" ${FOSTER_SUBREAPER--s})
  "$@"
}

teardown() {
  if [[ -z ${BATS_TEST_COMPLETED:-} && -e shown ]]; then
    cat -A shown >&2
  fi
  leave_terminal
  common_teardown
}

# init_on_terminal PROGRAM [ARG...]: with a session of its own, as
# container engines start it.
init_on_terminal() {
  if [[ $MODE == pid1 ]]; then
    on_terminal loose unshare "${UNSHARE_FLAGS[@]}" "$P" session \
      "$FOSTER" -- "$@"
  else
    on_terminal "${INIT_COMMAND[@]}" -- "$@"
  fi
  ask pid
  JOB=$answer
  wait_until init_is_there
}

# An interactive shell, where foster is a job: F begins the line that starts it.
shell_on_terminal() {
  on_terminal "${shell[@]}"
  F="${INIT_COMMAND[*]} --"
  ask pid
  SHELL_PID=$answer
  see '<0> '
}

# The shell's job, and its foster.
find_job() { wait_until job_is_there; }
job_is_there() {
  local list
  read_children "$SHELL_PID"
  for JOB in "${list[@]}"; do
    init_is_there && [[ -n $INIT ]] && return
  done
  return 1
}
# It has taken all its signals, and sleeps again.
init_is_idle() {
  grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$INIT/status" && in_state "$INIT" S
}

# Its shell is dead; whoever has adopted it may be slow at reaping.
init_is_over() { gone "$INIT" || in_state "$INIT" Z; }

# ^Z stops all that the shell waits for, and what is behind a PID namespace, for
# which it does not wait: a read of the terminal that the stop has not reached
# yet would take the next line.
suspend() {
  control Z
  see Stopped
  see '<1> '
  wait_until programs_are_stopped
}
programs_are_stopped() {
  local JOB INIT list jobs pid
  read_children "$SHELL_PID"
  jobs=("${list[@]}")
  for JOB in "${jobs[@]}"; do
    INIT=''
    init_is_there || continue
    [[ -n $INIT ]] || continue
    pid=$INIT
    while [[ /proc/$pid/exe -ef $FOSTER ]]; do
      pid=$(first_child "$pid")
    done
    [[ $(readlink "/proc/$pid/fd/0") != /dev/pts/* ]] || in_state "$pid" T ||
      return
  done
}

shell_ended() {
  type_line 'exit 0'
  ended "exit 0"
}

# count STRING: how often it was shown.
count() { grep -oF -- "$1" shown | wc -l; }

# ---- A shell under foster.

shell_under_foster() {
  init_on_terminal "${shell[@]}"
  see '<0> '
  type_line "$P hold"
  see READY
  control C
  see '<0> '

  type_line cat
  type_line hello
  see hello
  control Z
  see Stopped
  see '<1> '
  type_line fg
  type_line again
  see again
  control C
  see '<0> '

  type_line "$P hold"
  see READY
  control Z
  see '<1> '
  type_line bg
  see '<1> '
  type_line jobs
  see Running
  # shellcheck disable=SC2016
  type_line 'kill %1; wait %1; echo code=$?'
  see code=143
  see '<0> '

  type_line 'cat | cat'
  type_line hello
  see hello
  control Z
  see Stopped
  see '<1> '
  type_line fg
  type_line again
  see again
  control C
  see '<0> '

  type_line 'exit 3'
  ended "exit 3"
  is "$(grep -e 'job control' -e cannot -e '^foster:' shown)" ''
}
@test "terminal: a shell under foster has job control: as PID 1" {
  as_pid1 shell_under_foster
}
@test "terminal: a shell under foster has job control: as subreaper" {
  as_subreaper shell_under_foster
}
@test "terminal: a shell under foster has job control: as neither" {
  as_plain shell_under_foster
}

killed_while_stopped() {
  init_on_terminal "${shell[@]}"
  see '<0> '
  type_line "$P hold"
  see READY
  control Z
  see '<1> '
  # shellcheck disable=SC2016
  type_line 'kill -9 %1; while [[ $(jobs -s) ]]; do :; done; wait %1; echo code=$?'
  see code=137
  see '<0> '
  shell_ended
}
@test "terminal: a stopped job is killed: as PID 1" {
  as_pid1 killed_while_stopped
}
@test "terminal: a stopped job is killed: as subreaper" {
  as_subreaper killed_while_stopped
}

# ---- foster under a shell. As PID 1 its group is one of the outer namespace.

stops_and_resumes() {
  shell_on_terminal
  type_line "$F $P hold"
  see READY
  suspend
  type_line fg
  see "$P hold"
  find_job
  wait_until in_state "$INIT" S
  suspend
  type_line bg
  see '<1> '
  type_line jobs
  see Running
  see '<1> '
  type_line fg
  see "$P hold"
  control C
  see '<0> '

  type_line "$F cat"
  type_line hello
  see hello
  suspend
  type_line fg
  type_line again
  see again
  control D
  see '<0> '
  shell_ended
  is "$(count foster:)" 0
}
@test "terminal: stops and resumes with its shell: as PID 1" {
  as_pid1 stops_and_resumes
}
@test "terminal: stops and resumes with its shell: as subreaper" {
  as_subreaper stops_and_resumes
}
@test "terminal: stops and resumes with its shell: as neither" {
  as_plain stops_and_resumes
}

stops_for_input() {
  shell_on_terminal
  type_line "$F cat &"
  see '<1> '
  find_job
  wait_until in_state "$JOB" T
  # It has not taken the terminal.
  type_line 'echo alive'
  see alive
  see '<1> '
  type_line fg
  type_line hello
  see hello
  control D
  see '<0> '
  shell_ended
}
@test "terminal: in the background it stops for input: as PID 1" {
  as_pid1 stops_for_input
}
@test "terminal: in the background it stops for input: as subreaper" {
  as_subreaper stops_for_input
}

stops_for_output() {
  shell_on_terminal
  type_line 'stty tostop'
  see '<0> '
  type_line "$F echo said &"
  see '<1> '
  find_job
  wait_until in_state "$JOB" T
  type_line 'echo alive'
  see alive
  is "$(grep -c ^said shown)" 0
  see '<1> '
  type_line fg
  see said
  see '<0> '
  shell_ended
}
@test "terminal: with tostop in the background it stops for output: as PID 1" {
  as_pid1 stops_for_output
}
@test "terminal: with tostop in the background it stops for output: as subreaper" {
  as_subreaper stops_for_output
}

# Each part of a pipeline may be under foster, or all.
pipelines() {
  shell_on_terminal
  local line
  for line in "$F cat | cat" "cat | $F cat" "$F cat | $F cat" \
    "$F cat | cat | $F cat"; do
    type_line "$line"
    type_line hello
    see hello
    suspend
    type_line fg
    type_line again
    see again
    control C
    see '<0> '
  done
  for line in "$F cat | cat" "cat | $F cat" "$F cat | $F cat"; do
    type_line "$line"
    type_line hello
    see hello
    control D
    see '<0> '
  done
  shell_ended
}
@test "terminal: pipelines stop, resume and end: as PID 1" {
  as_pid1 pipelines
}
@test "terminal: pipelines stop, resume and end: as subreaper" {
  as_subreaper pipelines
}

# It reads keys from the terminal while the program still writes, as a pager does.
# Not less itself: it misses a ^Z that comes just before its read.
pager() {
  shell_on_terminal
  type_line "$F $P hold | sh -c 'read ready; echo asking; read key </dev/tty; echo key=\$key'"
  see asking
  suspend
  type_line fg
  type_line hello
  see key=hello
  control C
  see '<0> '
  shell_ended
}
@test "terminal: a pager after foster has the keys: as PID 1" { as_pid1 pager; }
@test "terminal: a pager after foster has the keys: as subreaper" {
  as_subreaper pager
}

# Who else is in our group may want the terminal while the program has it.
others_of_the_group() {
  shell_on_terminal
  type_line "($P with cat </dev/tty & exec $F sh -c 'echo started; exec cat')"
  # A ^C before that is lost: the first process of a PID namespace ignores it.
  see started
  local i
  # Each line goes to one of the two. Nothing stops, whoever reads next.
  for i in 1 2 3 4; do
    type_line "hello-$i"
    see "hello-$i"
  done
  control C
  see '<0> '
  is "$(count Stopped)" 0
  shell_ended
}
@test "terminal: others of its group have the terminal too: as PID 1" {
  as_pid1 others_of_the_group
}
@test "terminal: others of its group have the terminal too: as subreaper" {
  as_subreaper others_of_the_group
}

# init continues the other one. That is nobody's signal for the program.
no_signal_of_ours() {
  shell_on_terminal
  type_line "($P with cat </dev/tty & exec $F $P signals)"
  see READY
  type_line hello
  see hello
  type_line again
  see again
  find_job
  # Who reads the terminal has the foreground, and ends.
  control C
  see 'program 2 '
  signal TERM
  see 'program 15 user 0'
  see '<0> '
  is "$(count program)" 2
  shell_ended
}
@test "terminal: giving it to others sends the program nothing: as subreaper" {
  as_subreaper no_signal_of_ours
}

nested() {
  shell_on_terminal
  type_line "$F $FOSTER -- $FOSTER -- cat"
  type_line hello
  see hello
  suspend
  type_line fg
  type_line again
  see again
  suspend
  type_line fg
  type_line 'and again'
  see 'and again'
  control C
  see '<0> '
  shell_ended
}
@test "terminal: one in another stops and resumes: as PID 1" {
  as_pid1 nested
}
@test "terminal: one in another stops and resumes: as subreaper" {
  as_subreaper nested
}

gives_back() {
  shell_on_terminal
  ask settings
  local settings=$answer
  type_line "sh -c '$F true; read x; echo got=\$x'"
  type_line hello
  see got=hello
  see '<0> '
  type_line "sh -c '$F ./missing; read x; echo code=\$?; echo got=\$x'"
  type_line hello
  see got=hello
  see '<0> '
  type_line "sh -c '$F sh -c \"kill -9 \\\$\\\$\"; read x; echo got=\$x'"
  type_line hello
  see got=hello
  see '<0> '
  ask foreground
  is "$answer" "$SHELL_PID"
  ask settings
  is "$answer" "$settings"
  shell_ended
}
@test "terminal: a script reads on after foster: as PID 1" {
  as_pid1 gives_back
}
@test "terminal: a script reads on after foster: as subreaper" {
  as_subreaper gives_back
}

# That there is something to give back.
has_foreground() {
  on_terminal sh -c "${INIT_COMMAND[*]} cat; exit 3"
  ask pid
  local leader=$answer
  type_line hello
  see hello
  ask foreground
  if [[ $MODE == pid1 ]]; then
    # Its own group could never give it back: the script's is in another PID
    # namespace.
    is "$answer" "$leader"
  else
    JOB=$leader
    find_init_of_script
    is "$answer" "$(entrypoint)"
  fi
  control D
  ended "exit 3"
}
find_init_of_script() {
  JOB=$(first_child "$JOB")
  wait_until init_is_there
}
@test "terminal: the program has the foreground: as PID 1" {
  as_pid1 has_foreground
}
@test "terminal: the program has the foreground: as subreaper" {
  as_subreaper has_foreground
}

# Without a shell that would set it right: the group that had the terminal has
# it in the end.
foreground_is_as_before() {
  on_terminal sh -c "${INIT_COMMAND[*]} cat; echo over; exec $P hold"
  local leader settings
  ask pid
  leader=$answer
  ask settings
  settings=$answer
  type_line hello
  see hello
  control D
  see over
  ask foreground
  is "$answer" "$leader"
  ask settings
  is "$answer" "$settings"
  see READY
  control C
  ended "signal 2"
}
@test "terminal: the foreground and the settings are as before: as PID 1" {
  as_pid1 foreground_is_as_before
}
@test "terminal: the foreground and the settings are as before: as subreaper" {
  as_subreaper foreground_is_as_before
}

# It was stopped by SIGSTOP, so it could not give anything back; the shell has
# taken the terminal, and keeps it.
keeps_off() {
  shell_on_terminal
  type_line "$F $P hold"
  see READY
  find_job
  signal STOP
  see Stopped
  see '<1> '
  type_line bg
  see '<1> '
  wait_until in_state "$INIT" S
  kill -TERM "$(entrypoint)"
  type_line 'wait %1'
  see '<0> '
  ask foreground
  is "$answer" "$SHELL_PID"
  type_line 'echo alive'
  see alive
  shell_ended
}
@test "terminal: the shell keeps what it took: as subreaper" {
  as_subreaper keeps_off
}

# What handles a ^Z may stop only when the shell has resumed its job already.
stops_too_late() {
  shell_on_terminal
  mkfifo go
  cat >late <<'END'
exec 9<>go
trap ': >trapped; read go <&9; trap - TSTP; kill -TSTP $$; echo resumed; exit' TSTP
echo READY
sleep 1000 & wait
END
  type_line "$F sh late"
  see READY
  control Z
  see Stopped
  see '<1> '
  wait_until test -e trapped # or the SIGCONT discards the SIGTSTP
  type_line fg
  see 'sh late'
  find_job
  wait_until in_state "$JOB" S # before that the SIGCONT is still to come
  wait_until init_is_idle
  echo >go
  see resumed
  see '<0> '
  shell_ended
}
@test "terminal: a stop that comes after its end does not last: as PID 1" {
  as_pid1 stops_too_late
}

killed_while_job_is_stopped() {
  shell_on_terminal
  type_line "$F $P hold"
  see READY
  find_job
  control Z
  see '<1> '
  kill -KILL "$(entrypoint)"
  # shellcheck disable=SC2016
  type_line 'fg; echo code=$?'
  see code=137
  shell_ended
}
@test "terminal: killed while it is stopped: as PID 1" {
  as_pid1 killed_while_job_is_stopped
}
@test "terminal: killed while it is stopped: as subreaper" {
  as_subreaper killed_while_job_is_stopped
}

# As the shell's own command "suspend" does.
suspended_shell() {
  shell_on_terminal
  type_line "$F ${shell[*]@Q}"
  see '<0> '
  type_line suspend
  see '<1> '
  type_line fg
  type_line 'echo again'
  see again
  see '<0> '
  type_line exit
  see '<0> '
  shell_ended
}
@test "terminal: a shell under foster suspends itself: as subreaper" {
  as_subreaper suspended_shell
}

redraws() {
  shell_on_terminal
  local settings
  ask settings
  settings=$answer
  printf 'line %s\n' {1..9} >text
  type_line "TERM=vt100 $F $1 text"
  see 'line 9'
  find_job
  # less misses a stop that comes between its last look for one and its read.
  wait_until in_state "$(entrypoint)" S
  suspend
  type_line fg
  see 'line 9'
  done_by_terminal type "$2"
  # It may set the terminal for reading a line only now.
  type_line ''
  see '<0> '
  ask foreground
  is "$answer" "$SHELL_PID"
  ask settings
  is "$answer" "$settings"
  shell_ended
}
@test "terminal: an editor redraws when it is resumed: as PID 1" {
  requires vi
  as_pid1 redraws 'vi -n' :q!
}
@test "terminal: an editor redraws when it is resumed: as subreaper" {
  requires vi
  as_subreaper redraws 'vi -n' :q!
}
@test "terminal: a pager redraws when it is resumed: as PID 1" {
  requires less
  as_pid1 redraws less q
}
@test "terminal: a pager redraws when it is resumed: as subreaper" {
  requires less
  as_subreaper redraws less q
}

# ---- Loops.

loop_ends() {
  on_terminal "${shell[@]}"
  see '<0> '
  cat >loop <<END
for i in 1 2 3; do
  echo round-\$i
  ${INIT_COMMAND[*]} -- $P hold
done
echo after
END
  type_line "$1 loop"
  see round-1
  see READY
  control C
  see '<0> '
  is "$(count round-2)" 0
  is "$(count after)" 0
  shell_ended
}
@test "terminal: ^C ends a loop in sh: as PID 1" { as_pid1 loop_ends sh; }
@test "terminal: ^C ends a loop in sh: as subreaper" { as_subreaper loop_ends sh; }
@test "terminal: ^C ends a loop in sh: as neither" { as_plain loop_ends sh; }
@test "terminal: ^C ends a loop in bash: as subreaper" { as_subreaper loop_ends bash; }
@test "terminal: ^C ends a loop in an interactive shell: as subreaper" {
  as_subreaper loop_ends .
}

quits_alike() {
  on_terminal "${INIT_COMMAND[@]}" "$P" hold
  see READY
  control \\
  ended "signal 3"
}
@test "terminal: a quit from the keyboard ends it as its program: as subreaper" {
  as_subreaper quits_alike
}

# With -e a ^C is no failure, and no reason to end.
expected_interrupt() {
  on_terminal bash -c "
for i in 1 2; do
  echo round-\$i
  ${INIT_COMMAND[*]} -e 130 -- $P hold
  echo code=\$?
done"
  local i
  for i in 1 2; do
    see "round-$i"
    see READY
    control C
    see code=0
  done
  ended "exit 0"
}
@test "terminal: an expected ^C ends no loop: as neither" {
  as_plain expected_interrupt
}

loop_goes_on() {
  on_terminal "$1" -c "
for i in 1 2; do
  echo round-\$i
  ${INIT_COMMAND[*]} -- $P hold
  echo code=\$?
done"
  ask pid
  SHELL_PID=$answer
  see round-1
  see READY
  find_job
  signal INT
  see code=130
  see round-2
  see READY
  find_job
  signal INT
  see code=130
  ended "exit 0"
}
@test "terminal: SIGINT for foster alone ends no loop in sh: as PID 1" {
  as_pid1 loop_goes_on sh
}
@test "terminal: SIGINT for foster alone ends no loop in sh: as subreaper" {
  as_subreaper loop_goes_on sh
}
@test "terminal: SIGINT for foster alone ends no loop in bash: as subreaper" {
  as_subreaper loop_goes_on bash
}

# ---- Where nobody could resume it.

never_frozen() {
  init_on_terminal cat
  local i
  for i in 1 2 3; do
    type_line "hello-$i"
    see "hello-$i"
    control Z
  done
  type_line last
  see last
  control C
  ended "exit 130" "signal 2"
  is "$(count foster:)" 0
}
@test "terminal: ^Z freezes no session leader: as PID 1" { as_pid1 never_frozen; }
@test "terminal: ^Z freezes no session leader: as subreaper" {
  as_subreaper never_frozen
}

# The group of a script without job control is an orphaned one, as under make
# or CI: the kernel ignores ^Z for it.
orphaned_group() {
  on_terminal sh -c "${INIT_COMMAND[*]} cat; echo over"
  type_line hello
  see hello
  control Z
  type_line again
  see again
  control Z
  type_line 'and again'
  see 'and again'
  control D
  see over
  ended "exit 0"
}
@test "terminal: ^Z is ignored in an orphaned group: as PID 1" {
  as_pid1 orphaned_group
}
@test "terminal: ^Z is ignored in an orphaned group: as subreaper" {
  as_subreaper orphaned_group
}

foreground_of_nobody() {
  init_on_terminal "$P" abandon cat
  type_line hello
  see hello
  control D
  ended "exit 0"
}
@test "terminal: a group of which nobody is left has no foreground: as PID 1" {
  as_pid1 foreground_of_nobody
}
@test "terminal: a group of which nobody is left has no foreground: as subreaper" {
  as_subreaper foreground_of_nobody
}

# ---- Signals.

window_size() {
  init_on_terminal "$P" signals
  see READY
  resize 30
  see 'program 28 kernel 0'
  control C
  see 'program 2 kernel 0'
  signal TERM
  see 'program 15 user 0'
  ended "exit 0"
  is "$(count program)" 3
}
@test "terminal: a new window size and ^C arrive, once: as PID 1" {
  as_pid1 window_size
}
@test "terminal: a new window size and ^C arrive, once: as subreaper" {
  as_subreaper window_size
}

# The terminal's signals reach all of its group, wherever the program is in it.
window_size_of_job() {
  shell_on_terminal
  local line
  for line in "$F $P signals" "$F $P signals | $P ignore 2 cat" "$P hold | $F $P signals"; do
    : >shown
    type_line "$line"
    see READY
    find_job
    resize 30
    see 'program 28 '
    resize 40
    see 'program 28 '
    control C
    see 'program 2 '
    signal TERM
    see 'program 15 '
    see '<0> '
    is "$(count program)" 4
  done
  shell_ended
}
@test "terminal: a new window size and ^C reach a job, once: as PID 1" {
  as_pid1 window_size_of_job
}
@test "terminal: a new window size and ^C reach a job, once: as subreaper" {
  as_subreaper window_size_of_job
}

# When init dies of ^C as its program did, who has had it gets it no second time.
interrupted_once() {
  shell_on_terminal
  type_line "$F $P hold | $P signals"
  see READY
  find_job
  local pid neighbour
  for pid in $(children "$SHELL_PID"); do
    [[ $pid == "$JOB" ]] || neighbour=$pid
  done
  control C
  see 'program 2 kernel 0'
  wait_until gone "$INIT"
  kill -TERM "$neighbour"
  see 'program 15 user 0'
  see '<0> '
  is "$(count 'program 2 ')" 1
  shell_ended
}
@test "terminal: ^C reaches the rest of a pipeline once: as PID 1" {
  as_pid1 interrupted_once
}
@test "terminal: ^C reaches the rest of a pipeline once: as subreaper" {
  as_subreaper interrupted_once
}

handled_stop() {
  init_on_terminal "$P" signals
  see READY
  signal TSTP
  see 'program 20 user 0'
  control Z
  see 'program 20 kernel 0'
  signal TERM
  see 'program 15 user 0'
  ended "exit 0"
  is "$(count program)" 3
}
@test "terminal: SIGTSTP reaches a program that handles it, once: as PID 1" {
  as_pid1 handled_stop
}
@test "terminal: SIGTSTP reaches a program that handles it, once: as subreaper" {
  as_subreaper handled_stop
}

forwarded_stop() {
  init_on_terminal cat
  type_line hello
  see hello
  signal TSTP
  type_line again
  see again
  control D
  ended "exit 0"
}
@test "terminal: SIGTSTP stops no session leader's program: as PID 1" {
  as_pid1 forwarded_stop
}
@test "terminal: SIGTSTP stops no session leader's program: as subreaper" {
  as_subreaper forwarded_stop
}

forwarded_stop_of_job() {
  shell_on_terminal
  type_line "$F cat"
  type_line hello
  see hello
  find_job
  signal TSTP
  see Stopped
  see '<1> '
  wait_until in_state "$INIT" T
  type_line fg
  type_line again
  see again
  control D
  see '<0> '
  shell_ended
}
@test "terminal: SIGTSTP stops a shell's job: as subreaper" {
  as_subreaper forwarded_stop_of_job
}

# Whoever sends it to one process does not mean the whole group.
forwarded_stop_of_one() {
  shell_on_terminal
  type_line "sh -c '$P hold & $F $P hold & wait' &"
  see READY
  see READY
  local script others pid
  script=$(first_child "$SHELL_PID")
  others=$(children "$script")
  for pid in $others; do
    if [[ /proc/$pid/exe -ef $FOSTER ]]; then
      INIT=$pid
    fi
  done
  signal TSTP
  wait_until in_state "$INIT" T
  in_state "$script" S
  for pid in $others; do
    [[ $pid == "$INIT" ]] || in_state "$pid" S
  done
  signal CONT
  wait_until in_state "$INIT" S
  # shellcheck disable=SC2086
  kill -TERM $others
  wait_until gone "$script"
  shell_ended
}
@test "terminal: SIGTSTP for foster stops no others of its group: as subreaper" {
  as_subreaper forwarded_stop_of_one
}

explicit_stop() {
  init_on_terminal cat
  type_line hello
  see hello
  local pid
  pid=$(entrypoint)
  kill -STOP "$pid"
  wait_until in_state "$pid" T
  wait_until init_is_idle
  type_line again
  in_state "$pid" T
  is "$(count again)" 0
  kill -CONT "$pid"
  see again
  control D
  ended "exit 0"
}
@test "terminal: an explicit SIGSTOP stays until SIGCONT: as PID 1" {
  as_pid1 explicit_stop
}
@test "terminal: an explicit SIGSTOP stays until SIGCONT: as subreaper" {
  as_subreaper explicit_stop
}

explicit_stop_of_job() {
  shell_on_terminal
  type_line "$F cat"
  type_line hello
  see hello
  find_job
  local pid
  pid=$(entrypoint)
  kill -STOP "$pid"
  see Stopped
  see '<1> '
  in_state "$pid" T
  type_line fg
  type_line again
  see again
  control D
  see '<0> '
  shell_ended
}
@test "terminal: after an explicit SIGSTOP the shell has its terminal: as subreaper" {
  as_subreaper explicit_stop_of_job
}

# What is ignored stays so, for all that foster does with these three.
ignored_stops() {
  on_terminal "$P" with ignore=20,21,22 sh -c "$P state >wanted"
  ended "exit 0"
  if [[ $MODE == pid1 ]]; then
    INIT_COMMAND=(loose unshare "${UNSHARE_FLAGS[@]}" "$P" session "$FOSTER")
  fi
  inside "$P" with ignore=20,21,22
  on_terminal "${INIT_COMMAND[@]}" sh -c "$P state >given; exit 7"
  ended "exit 7"
  is "$(<given)" "$(<wanted)"
}
@test "terminal: a stop that is ignored stays so for the program: as PID 1" {
  as_pid1 ignored_stops
}
@test "terminal: a stop that is ignored stays so for the program: as subreaper" {
  as_subreaper ignored_stops
}

# Another of its group reads, and so has the foreground. The parent's death is
# then told with the SIGCONT that a shell's fg would send.
continued_by_parents_death() {
  mkfifo go
  shell_on_terminal
  # A stop is for that other alone.
  cat >script <<END
trap '' TTIN
sh -c '${INIT_COMMAND[*]} -p CONT -- $P signals </dev/tty & wait' &
read go <go
$P with cat </dev/tty &
wait
END
  type_line 'sh script'
  see READY
  wait_until grandchild_is_init
  wait_until entrypoint_has_foreground
  echo >go
  wait_until group_has_foreground
  kill -KILL "$(first_child "$SCRIPT")"
  see 'program 18 user 0'
  wait_until entrypoint_has_foreground
  kill -TERM "$INIT"
  see 'program 15 user 0'
  wait_until init_is_over
  type_line hello
  see hello
  control D
  see '<0> '
  shell_ended
}
grandchild_is_init() {
  SCRIPT=$(first_child "$SHELL_PID")
  INIT=$(first_child "$(first_child "$SCRIPT")")
  [[ /proc/$INIT/exe -ef $FOSTER ]]
}
group_has_foreground() {
  ask foreground
  [[ $answer == "$SCRIPT" ]]
}
@test "terminal: with -p CONT the parent's death is like fg: as subreaper" {
  as_subreaper continued_by_parents_death
}

# ---- Hanging up.

hung_up() {
  init_on_terminal "$P" hold
  see READY
  hang_up
  ended "exit 129"
}
@test "terminal: closing it hangs up: as PID 1" { as_pid1 hung_up; }
@test "terminal: closing it hangs up: as subreaper" { as_subreaper hung_up; }

hang_up_survived() {
  init_on_terminal sh -c "exec $P signals >signals"
  wait_until grep -qs READY signals
  hang_up
  wait_until grep -q 'program 1 ' signals
  kill -USR1 "$INIT"
  wait_until grep -q 'program 10 user' signals
  kill -TERM "$INIT"
  ended "exit 0"
}
@test "terminal: a program survives that it hangs up: as PID 1" {
  as_pid1 hang_up_survived
}
@test "terminal: a program survives that it hangs up: as subreaper" {
  as_subreaper hang_up_survived
}

hang_up_of_job_survived() {
  shell_on_terminal
  type_line "$F $P signals >signals"
  wait_until grep -qs READY signals
  find_job
  hang_up
  ended "signal 1"
  wait_until grep -q 'program 1 ' signals
  kill -USR1 "$INIT"
  wait_until grep -q 'program 10 user' signals
  kill -TERM "$INIT"
  wait_until init_is_over
}
@test "terminal: a program survives that its shell's hangs up: as subreaper" {
  as_subreaper hang_up_of_job_survived
}

# Stopped then, it would wait for ever for somebody to resume it.
stopped_after_hang_up='trap "" HUP; echo READY; read -r go <go; kill -TSTP $$; echo >went-on'
hung_up_then_stopped() {
  mkfifo go
  init_on_terminal sh -c "$stopped_after_hang_up"
  see READY
  hang_up
  # A SIGCONT comes with it, which is to be over.
  wait_until init_is_idle
  echo >go
  wait_until test -e went-on
  ended "exit 0"
}
@test "terminal: after it hung up a stop freezes nothing: as PID 1" {
  as_pid1 hung_up_then_stopped
}
@test "terminal: after it hung up a stop freezes nothing: as subreaper" {
  as_subreaper hung_up_then_stopped
}

hung_up_then_stopped_as_job() {
  mkfifo go
  shell_on_terminal
  type_line "$F sh -c '$stopped_after_hang_up'"
  see READY
  find_job
  hang_up
  ended "signal 1"
  wait_until init_is_idle
  echo >go
  wait_until test -e went-on
  wait_until init_is_over
}
@test "terminal: after its shell's hung up a stop freezes nothing: as subreaper" {
  as_subreaper hung_up_then_stopped_as_job
}

# The three still lead to it, but whatever is asked of it fails.
started_after_hang_up() {
  mkfifo go
  on_terminal sh -c "trap '' HUP; echo READY; read -r go <go
    ${INIT_COMMAND[*]} sh -c 'kill -TSTP \$\$; stty -g 2>error; exit 7'; exit \$?"
  see READY
  hang_up
  echo >go
  ended "exit 7"
  matches "$(<error)" 'Input/output error'
}
@test "terminal: one that has hung up is no reason not to run: as PID 1" {
  as_pid1 started_after_hang_up
}
@test "terminal: one that has hung up is no reason not to run: as subreaper" {
  as_subreaper started_after_hang_up
}

# ---- Which of stdin, stdout and stderr is the terminal.

# serves [WRAPPER...]: whatever is redirected, the program has the terminal.
serves() {
  local redirection
  echo >empty
  for redirection in "${redirections[@]}"; do
    echo "# $redirection"
    if [[ $MODE == pid1 ]]; then
      on_terminal loose unshare "${UNSHARE_FLAGS[@]}" "$@" "$P" session \
        sh -c "exec $FOSTER $P hold $redirection"
    else
      on_terminal "$@" sh -c "exec ${INIT_COMMAND[*]} $P hold $redirection"
    fi
    ask pid
    JOB=$answer
    wait_until init_is_there
    wait_until entrypoint_has_foreground
    control Z
    wait_until in_state "$(entrypoint)" S
    control C
    ended "exit 130" "signal 2"
  done
}
entrypoint_has_foreground() {
  ask foreground
  [[ -n $answer && $answer == "$(entrypoint)" ]]
}
all_redirections=('<empty >out' '<empty 2>out' '>out 2>out' '<empty >out 2>out'
  '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-')
@test "terminal: whichever of the three it is, or none: as PID 1" {
  redirections=("${all_redirections[@]}")
  as_pid1 serves
}
@test "terminal: whichever of the three it is, or none: as subreaper" {
  redirections=("${all_redirections[@]}")
  as_subreaper serves
}

# Without /dev/tty one of the three has to be it.
without_dev_tty=(sh -c 'mount -t tmpfs none /dev && exec "$@"' sh)
@test "terminal: where there is no /dev/tty one of the three serves: as PID 1" {
  requires pid_namespace
  redirections=('<empty >out' '<empty 2>out' '>out 2>out' '<&- >&-' '>&- 2>&-')
  UNSHARE_FLAGS+=(-m)
  as_pid1 serves "${without_dev_tty[@]}"
}
@test "terminal: where there is no /dev/tty one of the three serves: as subreaper" {
  requires pid_namespace
  redirections=('<empty >out' '<empty 2>out' '>out 2>out' '<&- >&-' '>&- 2>&-')
  as_subreaper serves unshare "${UNSHARE_FLAGS[0]/pf/m}" "${without_dev_tty[@]}"
}

# ---- A stop that comes before the program is executed.

# Until the program's group has the foreground ^Z is for init, which forwards it.
# After that, until the exec, it is too early, and lost; never does it freeze.
# Tagged vfork: a fork is not held.

# The child is at its place, and goes on.
child_is_held() { wait_until test -e held; }
release_child() {
  local tracer
  tracer=$(awk '/^TracerPid/ { print $2 }' "/proc/$(entrypoint)/status")
  ((tracer > 1))
  kill -KILL "$tracer"
}

stopped_early() {
  shell_on_terminal
  type_line "$P held $1 held $F $(command -v cat)"
  find_job
  child_is_held
  control Z
  release_child
  if [[ $2 == stops ]]; then
    see Stopped
    see '<1> '
    type_line fg
  fi
  type_line hello
  see hello
  suspend
  type_line fg
  type_line again
  see again
  control D
  see '<0> '
  shell_ended
}
# bats test_tags=vfork
@test "terminal: ^Z before the program has the foreground: as subreaper" {
  as_subreaper stopped_early group stops
}
# bats test_tags=vfork
@test "terminal: ^Z before the program is open to signals: as subreaper" {
  as_subreaper stopped_early foreground is_lost
}
# bats test_tags=vfork
@test "terminal: ^Z right before the exec: as subreaper" {
  as_subreaper stopped_early mask is_lost
}
# bats test_tags=vfork
@test "terminal: ^Z during the exec: as subreaper" {
  as_subreaper stopped_early exec stops
}

leader_stopped_early() {
  on_terminal loose "$P" held "$1" held unshare "${UNSHARE_FLAGS[@]}" \
    "$P" session "$FOSTER" "$(command -v cat)"
  ask pid
  JOB=$answer
  child_is_held
  wait_until init_is_there
  control Z
  release_child
  type_line hello
  see hello
  control D
  ended "exit 0"
}
# bats test_tags=vfork
@test "terminal: ^Z before the program is open to signals: as PID 1" {
  as_pid1 leader_stopped_early foreground
}
# bats test_tags=vfork
@test "terminal: ^Z right before the exec: as PID 1" {
  as_pid1 leader_stopped_early mask
}
# bats test_tags=vfork
@test "terminal: ^Z during the exec: as PID 1" {
  as_pid1 leader_stopped_early exec
}

# The loop of a script ends, although init has got the signal as well.
interrupted_early() {
  on_terminal "${shell[@]}"
  see '<0> '
  cat >loop <<END
for i in 1 2 3; do
  echo round-\$i
  $P held $1 held ${INIT_COMMAND[*]} -- $(command -v cat)
done
echo after
END
  type_line "$2 loop"
  ask pid
  child_is_held
  JOB=$(first_child "$answer")
  wait_until init_is_there
  control C
  release_child
  see '<0> '
  is "$(count round-2)" 0
  is "$(count after)" 0
  shell_ended
}
# bats test_tags=vfork
@test "terminal: ^C before the program has the foreground ends a loop: as subreaper" {
  as_subreaper interrupted_early group bash
}
# bats test_tags=vfork
@test "terminal: ^C right before the exec ends a loop: as subreaper" {
  as_subreaper interrupted_early mask bash
}
