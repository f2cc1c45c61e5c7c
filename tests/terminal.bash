# shellcheck shell=bash
# A terminal, and somebody who types there: for terminal.bats and for
# tests/terminal-matrix.
#
#   on_terminal bash -i      # a session of its own; the pty probe holds it
#   see '$ '                 # this was shown, after whatever was seen before
#   type_line 'sleep 100'
#   control Z
#   see Stopped
#   ended "exit 0"
#
# The terminal doesn't echo, so what is seen was written by programs. Whatever
# was shown is in the file `shown`.

TYPED='' ANSWERS='' TERMINAL=''

on_terminal() {
  rm -f typed answers shown
  mkfifo typed answers
  PATIENCE=$PATIENCE "$PROBE" pty shown "$@" <typed >answers 2>pty-errors 3>&- &
  TERMINAL=$!
  exec {TYPED}>typed {ANSWERS}<answers
}

# The terminal is closed, and with it goes whoever is still there.
leave_terminal() {
  [[ -n $TYPED ]] || return 0
  exec {TYPED}>&- {ANSWERS}<&-
  wait "$TERMINAL" || :
  TYPED='' ANSWERS='' TERMINAL=''
}

# ask COMMAND...: sets $answer; see tests/probes/pty.c.
ask() {
  answer=''
  echo "$*" >&"$TYPED"
  IFS= read -r -t $((PATIENCE + 10)) -u "$ANSWERS" answer ||
    answer="no answer: $(<pty-errors)"
}
done_by_terminal() {
  ask "$@"
  [[ $answer == ok ]] && return
  echo "$*: $answer" >&2
  return 1
}

see() { done_by_terminal see "$@"; }
type_line() { done_by_terminal line "$@"; }
control() { done_by_terminal control "$@"; }
resize() { done_by_terminal size "$@"; }
hang_up() { done_by_terminal hangup; }

# ended HOW...: the program that runs on the terminal has, in one of these ways,
# e.g. "exit 0", "signal 9".
ended() {
  local how
  ask end
  leave_terminal
  for how; do
    [[ $answer == "$how" ]] && return
  done
  is "$answer" "$*"
}

# An interactive shell whose prompt counts its jobs: "<0> ".
shell=(env PS1='<\j> ' PS2='' HISTFILE='' TERM=dumb
  bash --norc --noprofile --noediting -i)
