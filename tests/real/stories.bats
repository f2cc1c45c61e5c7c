#!/usr/bin/env bats
# Four stories of use under another init, without a container: what foster was
# asked for, and what it must leave alone.

bats_require_minimum_version 1.5.0
load ../helpers

# detached FILE COMMAND...: in a session of its own, its pid in the file. The
# text of a script. It holds no output open: who waits for that would never see
# that it was left.
detached() {
  printf '%s' "setsid sh -c 'echo \$\$ >$1; exec $2' >nothing 2>&1 & until [ -s $1 ]
    do sleep 0.01; done; "
}

@test "story: a worker's detached servers are gone when it ends, or is killed" {
  local end
  # The same program, started by somebody else.
  setsid sleep 777 >nothing 3>&- &
  local other=$!
  for end in 'exit 3' 'kill -KILL $$'; do
    rm -f server daemon
    run "$FOSTER" -s -k 2 -- sh -c "$(detached server 'sleep 777')
      (setsid sh -c 'echo \$\$ >daemon; exec sleep 777' >nothing 2>&1 &)
      until [ -s daemon ]; do sleep 0.01; done; $end"
    case $end in
    exit*) is "$status" 3 ;;
    *) is "$status" 137 ;;
    esac
    gone "$(<server)"
    gone "$(<daemon)"
    exists "$other"
  done
  kill "$other"
  wait "$other" || :
}

@test "story: a tick's http.server is gone after it, the operator's is not" {
  requires python3
  local operators
  python3 -m http.server 0 --bind 127.0.0.1 >operators 2>&1 3>&- &
  operators=$!
  wait_until grep -q Serving operators
  run "$FOSTER" -s -k 2 -- sh -c '
    python3 -u -m http.server 0 --bind 127.0.0.1 >ticks 2>&1 & echo $! >pid
    until grep -q Serving ticks; do sleep 0.05; done'
  is "$status" 0
  gone "$(<pid)"
  # Still there, and still serving.
  exists "$operators"
  local port
  port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' operators)
  (exec 5<>"/dev/tcp/127.0.0.1/$port")
  kill "$operators"
  wait "$operators" || :
}

# A service that leaks grandchildren: each tells a FIFO's reader of its end.
LEAKS='for n in 1 2 3 4 5; do sh -c "true &"; done; : >leaked
  until [ -e go ]; do sleep 0.05; done'

@test "story: leaked grandchildren are zombies on a bare PID 1, none with foster" {
  requires pid_namespace
  # A PID 1 that never waits, and a shell that leaks beneath it.
  cat >bare <<'END'
#!/bin/sh
sh -c 'for n in 1 2 3 4 5; do sh -c "true &"; done; : >leaked; exec sleep 999' &
exec sleep 999
END
  chmod +x bare
  unshare "${UNSHARE_FLAGS[@]}" ./bare 3>&- &
  local bare=$!
  wait_until test -e leaked
  wait_until has_zombies "$bare" 5
  kill -KILL "$bare"
  wait "$bare" || :
  rm leaked

  as_pid1 start sh -c "$LEAKS; exit 6"
  wait_until test -e leaked
  wait_until reaped 5
  is "$(zombies_of "$INIT")" 0
  : >go
  finish
  is "$status" 6
}

has_zombies() { [[ $(zombies_of "$(first_child "$1")") -eq $2 ]]; }
reaped() {
  [[ $("$FOSTER" --status="$INIT" | jq .orphans_reaped) -eq $1 ]]
}

# A daemon that replaces itself by exec forgets the workers it had started. They
# are its children still, so no init may wait for them.
@test "story: workers forgotten by exec are shown; forked twice, they are reaped" {
  requires jq
  as_subreaper start sh -c '
    sleep 999 & echo $! >forgotten
    (sleep 999 & echo $! >adopted)
    : >started; exec tail -f /dev/null'
  wait_until test -e started
  kill "$(<adopted)" "$(<forgotten)"
  wait_until status_is '.orphans_reaped == 1 and .zombies.count == 1 and
    .zombies.by_parent[0].name == "tail"'
  signal TERM
  finish
  is "$status" 143

  # And what it does wait for still hands it its exit status.
  run "$FOSTER" -s -- sh -c 'setsid --fork true; sh -c "exit 7"; echo $?'
  is "$status" 0
  is "$output" 7
}

status_is() {
  # Nothing at all is not true either, which it is for jq's --exit-status.
  "$FOSTER" --status="$INIT" |
    jq --exit-status --slurp "length == 1 and (.[0] | ($1))" >/dev/null
}

@test "story: a fixture ends with its test runner, even a killed one" {
  local trap runner
  for trap in '' 'trap "" TERM; '; do
    rm -f fixture below
    sh -c '"$FOSTER" -s -p TERM -k 0.5 -- sh -c "$1" & wait' - \
      "$trap$(detached below 'sleep 777') echo \$\$ >fixture
        while :; do sleep 0.1; done" 3>&- &
    runner=$!
    wait_until test -s fixture
    kill -KILL "$runner"
    wait "$runner" || :
    wait_until gone "$(<fixture)"
    wait_until gone "$(<below)"
  done
}
