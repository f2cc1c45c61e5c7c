#!/usr/bin/env bats
# foster with the terminal of `docker run -it`, attached and detached. The keys are real: they go through a terminal of the test's own.

bats_require_minimum_version 1.5.0
load engine

setup_file() { engine_start docker; }
teardown_file() { engine_stop; }
teardown() {
  # A failed test has left its terminal open.
  [[ -z ${TERMINAL_PID-} ]] || terminal_hang_up
  engine_clean
}

DETACH='\020\021' # ctrl-p ctrl-q
STOP='\032'       # ctrl-z
INTERRUPT='\003'  # ctrl-c

# on_terminal NAME COMMAND...: both ways of being init are the same here, so the
# engine's own serves for all but one.
on_terminal() {
  local name=$1
  shift
  terminal_start docker run -it --init --network none --name "$name" base:1 "$@"
}

@test "terminal: ^Z doesn't freeze cat, ^C ends it" {
  local way
  for way in --init=true --init=false; do
    if [[ $way == --init=true ]]; then
      on_terminal stops cat
    else
      terminal_start docker run -it --network none --name stops foster:1 cat
    fi
    type_keys 'one\n'
    wait_until screen_shows_times 2 one
    type_keys "$STOP"
    wait_until screen_shows_part '\^Z'
    type_keys 'two\n'
    # Echoed by the terminal, and written by cat.
    wait_until screen_shows two
    [ "$(entrypoint_state stops)" != T ]
    type_keys "$INTERRUPT"
    terminal_end
    [ "$status" -eq 130 ]
    docker rm stops
  done
}

# The state letter of the container's entrypoint.
entrypoint_state() { state_of "$(first_child "$(docker_pid "$1")")"; }

# A program that says when it is there. What is typed before, the shell's own
# line editor may take.
CAT="sh -c 'echo THERE; exec cat'"

# The last thing that is shown is busybox's prompt.
at_prompt() { [[ $(screen | tail -n 1) == "/ # "* ]]; }

@test "terminal: job control in a shell works, and its exit code is passed on" {
  on_terminal shell sh
  wait_until at_prompt
  type_keys "$CAT\n"
  wait_until screen_shows THERE
  type_keys 'in cat\n'
  wait_until screen_shows_times 2 'in cat'
  type_keys "$STOP"
  wait_until at_prompt
  screen_shows_part Stopped
  type_keys 'echo $((40 + 2)) in sh\n'
  wait_until screen_shows '42 in sh'
  type_keys 'fg\n'
  # Named by fg, as it goes on.
  wait_until screen_shows "sh -c .*"
  type_keys 'cat again\n'
  wait_until screen_shows_times 2 'cat again'
  type_keys "$INTERRUPT"
  wait_until at_prompt
  type_keys 'exit 6\n'
  terminal_end
  [ "$status" -eq 6 ]
  [[ $(screen) != *"job control"* ]]
  docker rm shell
}

@test "terminal: its size arrives, at the start and later" {
  on_terminal size sh -c 'trap "stty size" WINCH; echo READY
    until [ "$(stty size)" = "33 99" ]; do sleep 0.1; done
    echo "first: $(stty size)"; while :; do read line; done'
  wait_until screen_shows 'first: 33 99'
  stty rows 44 cols 88 <"$(cat "$ENGINE/tty")"
  wait_until screen_shows '44 88'
  type_keys "$INTERRUPT"
  terminal_end
  [ "$status" -eq 130 ]
  docker rm size
}

@test "terminal: detached and attached again, the program never notices" {
  on_terminal moves sh -c 'trap "echo got HUP" HUP; echo READY
    while read line; do echo "heard $line"; done'
  wait_until screen_shows READY
  type_keys 'one\n'
  wait_until screen_shows 'heard one'
  type_keys "$DETACH"
  terminal_end
  [ "$status" -eq 0 ]
  [ "$(docker inspect --format '{{.State.Running}}' moves)" = true ]

  terminal_start docker attach moves
  type_keys 'two\n'
  wait_until screen_shows 'heard two'
  # The window closed, this time: the engine keeps the container's terminal.
  terminal_hang_up
  [ "$(docker inspect --format '{{.State.Running}}' moves)" = true ]

  terminal_start docker attach moves
  type_keys 'three\n'
  wait_until screen_shows 'heard three'
  [[ $(docker logs moves 2>&1) != *"got HUP"* ]]
  type_keys '\004'
  terminal_end
  [ "$status" -eq 0 ]
  docker rm moves
}

@test "terminal: docker stop ends what runs on one" {
  on_terminal stopped cat
  type_keys 'one\n'
  wait_until screen_shows_times 2 one
  docker stop --time 90 stopped
  terminal_end
  [ "$status" -eq 143 ]
  docker rm stopped
}

@test "terminal: a program stopped for good goes on at SIGCONT only" {
  on_terminal halts sh -c 'echo READY; kill -STOP $$; echo went on'
  wait_until screen_shows READY
  wait_until entrypoint_is halts T
  docker kill --signal CONT halts
  terminal_end
  [ "$status" -eq 0 ]
  screen_shows 'went on'
  docker rm halts
}

entrypoint_is() { [[ $(entrypoint_state "$1") == "$2" ]] || not_yet; }

@test "terminal: docker exec -it beside it has its own" {
  docker_run init -d --name beside -- sleep 999
  terminal_start docker exec -it beside sh
  type_keys 'echo $((40 + 2)) beside\n'
  wait_until screen_shows '42 beside'
  type_keys "$CAT\n"
  wait_until screen_shows THERE
  type_keys 'in cat\n'
  wait_until screen_shows_times 2 'in cat'
  type_keys "$STOP"
  wait_until screen_shows_part Stopped
  type_keys 'kill %1; fg; exit 8\n'
  terminal_end
  [ "$status" -eq 8 ]
  docker rm -f beside
}
