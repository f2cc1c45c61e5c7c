#!/usr/bin/env bats
# The four stories that README tells: its own commands, and what it says of them
# closer up; what foster is asked for, and what it must leave alone.

bats_require_minimum_version 1.5.0
load ../helpers

README=$BATS_TEST_DIRNAME/../../README.md

# told HEADING [N]: the Nth piece of code under this heading of README.
told() {
  awk -v heading="### $1" -v wanted="${2-1}" '
    /^#/ { inside = $0 == heading }
    inside && /^    / {
      if (!code++) piece++
      if (piece == wanted) { print substr($0, 5); found = 1 }
      next
    }
    { code = 0 }
    END { exit !found }' "$README"
}

# paste HEADING [N]: run that, as a reader would. Sets status, output and lines.
paste() {
  local command
  command=$(told "$@")
  mkdir -p bin
  ln -sf "$FOSTER" bin/foster
  # Where even root may make no user namespaces.
  [[ -z ${UNSHARE_FLAGS-} ]] || command=${command//-Urpf/${UNSHARE_FLAGS[0]}}
  status=0
  # Not a pipe: what is left behind would hold it open.
  env PATH="$PWD/bin:$PATH" timeout "$PATIENCE" bash -c "$command" \
    >output 2>&1 3>&- || status=$?
  output=$(<output)
  mapfile -t lines <output
}

# detached FILE COMMAND...: in a session of its own, its pid in the file. The
# text of a script. It holds no output open: who waits for that would never see
# that it was left.
detached() {
  printf '%s' "setsid sh -c 'echo \$\$ >$1; exec $2' >nothing 2>&1 & until [ -s $1 ]
    do sleep 0.01; done; "
}

@test "story: pasted: a job whose commands detach" {
  setsid sleep 1001 >nothing 3>&- &
  local other=$!
  paste 'A job whose commands detach'
  is "$status" 3
  is "$output" ''
  exists "$other"
  kill "$other"
  wait "$other" || :
  # The job's own are gone.
  nothing_left
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

@test "story: pasted: a periodic job that leaves listeners" {
  requires python3
  paste 'A periodic job that leaves listeners'
  is "$status" 0
  # From the server, unless it took more than the second; none from foster.
  matches "$output" '^(Serving HTTP on [^:]*:[^:]*:[0-9]+/\) \.\.\.)?$'
  nothing_left
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

@test "story: pasted: a service that leaks grandchildren" {
  requires pid_namespace
  paste 'A service that leaks grandchildren'
  is "$status" 0
  is "${#lines[@]}" 4
  is "${lines[0]}" 5
  matches "${lines[1]}" "'cat' is not foster"
  is "${lines[2]}" 0
  matches "${lines[3]}" '"orphans_reaped":5,'
  matches "${lines[3]}" '"zombies":\{"count":0,'
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

  # What it waits for itself is its own.
  run foster sh -c 'sh -c "true &"; sh -c "exit 7" & wait $!; echo $?'
  is "$output" 7
}

has_zombies() { [[ $(zombies_of "$(first_child "$1")") -eq $2 ]]; }
reaped() {
  [[ $("$FOSTER" --status="$INIT" | jq .orphans_reaped) -eq $1 ]]
}

@test "story: pasted: a daemon that forgets its workers by exec" {
  again shows 2 0 '{"count":1,"by_parent":[{"pid":NUMBER,"name":"sleep","count":1}]}'
  again shows 3 1 '{"count":0,"by_parent":[]}'
}

# The moment at which a reader looks may be too early on a busy machine.
again() { "$@" || "$@" || "$@"; }

shows() {
  paste 'A service that leaks grandchildren' "$1"
  is "$status" 0 &&
    matches "$output" "\"orphans_reaped\":$2," &&
    is "$(sed 's/.*"zombies"://; s/"pid":[0-9]*/"pid":NUMBER/; s/}$//' \
      <<<"$output")" "$3" && wait_until nothing_left
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

@test "story: pasted: a fixture that must not outlive its tests" {
  local begin
  begin=$(clock)
  paste 'A fixture that must not outlive its tests'
  # Of the runner, which was killed; not of a timeout around it all.
  is "$status" 137
  wait_until nothing_left
  grep -q 'has not ended in time: sending SIGKILL' output
  # Three seconds, and a grace period of two.
  (($(clock) - begin >= 4900000))
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
