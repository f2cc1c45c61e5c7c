#!/usr/bin/env bats
# foster in a Docker Engine: as an image's ENTRYPOINT, and as the engine's own
# init (docker run --init). What holds for both is tested for both.

bats_require_minimum_version 1.5.0
load engine

WAYS=(entrypoint init)
HARDENED=(--read-only --cap-drop ALL --security-opt no-new-privileges
  --user 1234)

setup_file() { engine_start docker; }
teardown_file() { engine_stop; }

# A program that says READY and then only waits, until a signal ends it. The
# other one waits on when it has caught one.
IDLES='set -e; mkfifo /tmp/never; exec 3<>/tmp/never; echo READY; set +e; '
WAITS="$IDLES read never <&3"
WAITS_ON="$IDLES while :; do read never <&3; done"
TMP=(--tmpfs /tmp:mode=1777)

@test "docker: version and info show foster's version and commit" {
  local line commit=N/A
  line=$("$FOSTER" --version)
  [[ $line =~ ^tini\ version\ ([^ ]+)(\ -\ git\.([0-9a-f]{7}))?$ ]]
  [[ -z ${BASH_REMATCH[3]} ]] || commit=${BASH_REMATCH[3]}
  run docker version --format \
    '{{range .Server.Components}}{{.Name}} {{.Version}}{{println}}{{end}}'
  [ "$status" -eq 0 ]
  [[ $output == *"foster ${BASH_REMATCH[1]}"* ]]
  run docker info --format '{{.InitBinary}} {{.InitCommit.ID}}'
  [ "$status" -eq 0 ]
  [ "$output" = "$ENGINE/foster $commit" ]
  # With a commit the engine has nothing to complain of.
  if [ "$commit" != N/A ]; then
    run -1 grep -E "failed to (parse|retrieve) .*version" "$ENGINE/dockerd.log"
  fi
}

@test "docker: the program's exit code is the container's" {
  local way code
  for way in "${WAYS[@]}"; do
    for code in 0 3 255; do
      run docker_run "$way" --rm -- sh -c "exit $code"
      [ "$status" -eq "$code" ]
      [ -z "$output" ]
    done
    run docker_run "$way" --rm -- sh -c 'kill -USR2 $$'
    [ "$status" -eq $((128 + 12)) ]
  done
}

@test "docker: a program that is missing or not executable is named" {
  local way
  for way in "${WAYS[@]}"; do
    run -127 docker_run "$way" --rm -- no-such-program
    [[ $output == "foster: "*no-such-program* ]]
    run docker_run "$way" --rm -- /tmp
    [ "$status" -eq 126 ]
    [[ $output == "foster: /tmp"* ]]
  done
}

@test "docker: read-only, no capabilities, no new privileges, uid 1234" {
  local way
  for way in "${WAYS[@]}"; do
    run docker_run "$way" --rm "${HARDENED[@]}" -- sh -c '
      grep -E "^(CapBnd|NoNewPrivs):" /proc/1/status
      id -u
      touch /file 2>&1
      tr "\0" " " </proc/1/cmdline | cut -d " " -f 1
      exit 9'
    [ "$status" -eq 9 ]
    [ "${lines[0]}" = $'CapBnd:\t0000000000000000' ]
    [ "${lines[1]}" = $'NoNewPrivs:\t1' ]
    [ "${lines[2]}" = 1234 ]
    [[ ${lines[3]} == *"Read-only file system" ]]
    case $way in
      entrypoint) [ "${lines[4]}" = /foster ] ;;
      init) [ "${lines[4]}" = /sbin/docker-init ] ;;
    esac
  done
}

@test "docker: in an image that holds foster alone, --version and --pause" {
  run docker run --rm --network none alone:1 --version
  [ "$status" -eq 0 ]
  [[ $output == "tini version "* ]]
  docker run -d --network none --name pauses "${HARDENED[@]}" alone:1 -P
  [ "$(milliseconds docker stop --time 90 pauses)" -lt 30000 ]
  [ "$(docker_exit_code pauses)" -eq 0 ]
  [ -z "$(docker logs pauses 2>&1)" ]
  docker rm pauses
}

@test "docker: stdin reaches the program, and its end too" {
  local way
  for way in "${WAYS[@]}"; do
    run docker_run "$way" --rm -i -- sh -c 'wc -c; echo end' <<<"some words"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = 11 ]
    [ "${lines[1]}" = end ]
  done
}

@test "docker: stop gives 143 at once" {
  local way
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name stops "${TMP[@]}" -- sh -c "$WAITS"
    wait_until docker_said stops READY
    [ "$(milliseconds docker stop --time 90 stops)" -lt 30000 ]
    [ "$(docker_exit_code stops)" -eq 143 ]
    docker rm stops
  done
}

@test "docker: kill -s sends any signal to the program" {
  local way signal number script='trap "exit 0" TERM; '
  local -A signals=([HUP]=1 [INT]=2 [QUIT]=3 [ABRT]=6 [USR1]=10 [USR2]=12
    [TSTP]=20 [WINCH]=28 [RTMIN]=34 [RTMIN+3]=37 [RTMAX]=64)
  for number in "${signals[@]}"; do
    script+="trap 'echo got $number' $number; "
  done
  script+=$WAITS_ON
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name hears "${TMP[@]}" -- sh -c "$script"
    wait_until docker_said hears READY
    for signal in "${!signals[@]}"; do
      docker kill --signal "$signal" hears
      wait_until docker_said hears "^got ${signals[$signal]}\$"
    done
    docker stop hears
    [ "$(docker_exit_code hears)" -eq 0 ]
    # Each arrived once.
    [ "$(docker logs hears | grep -c '^got')" -eq "${#signals[@]}" ]
    docker rm hears
  done
}

@test "docker: FOSTER_OPTIONS is read, and not passed on" {
  local way
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name option -e 'FOSTER_OPTIONS=-r TERM:USR1 -e 7' \
      "${TMP[@]}" -- sh -c "trap 'exit 7' USR1; env | sort; $WAITS"
    wait_until docker_said option READY
    docker stop option
    [ "$(docker_exit_code option)" -eq 0 ]
    [[ $(docker logs option 2>&1) != *FOSTER* ]]
    docker rm option
  done
}

@test "docker: what is wrong in FOSTER_OPTIONS is said, and nothing is run" {
  local way
  for way in "${WAYS[@]}"; do
    run docker_run "$way" --rm -e 'FOSTER_OPTIONS=-k soon' -- echo ran
    [ "$status" -eq 125 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "foster: "*soon* ]]
  done
}

@test "docker: orphans are reaped, and counted" {
  local way orphans=100
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name leaks "${TMP[@]}" -- sh -c "
      for n in \$(seq $orphans); do (true &); done; $WAITS"
    wait_until docker_said leaks READY
    wait_until status_has leaks ".orphans_reaped >= $orphans"
    run docker exec leaks sh -c 'cat /proc/[0-9]*/stat | grep -c " Z "'
    [ "$output" = 0 ]
    docker rm -f leaks
  done
}

# The path of init within the container is not the same for both ways; the
# test's own copy can be run in either.
init_path() {
  docker exec "$1" sh -c 'test -e /sbin/docker-init' &&
    echo /sbin/docker-init || echo /foster
}

status_has() {
  docker exec "$1" "$(init_path "$1")" --status | json_is "$2" || not_yet
}

@test "docker: --status works where the container has no rights at all" {
  local way init
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name shows "${HARDENED[@]}" "${TMP[@]}" -- \
      sh -c "trap 'echo got' USR1; $WAITS_ON"
    wait_until docker_said shows READY
    docker kill --signal USR1 shows
    wait_until docker_said shows got
    init=$(init_path shows)
    run docker exec shows "$init" --status
    [ "$status" -eq 0 ]
    json_is '.pid == 1 and .mode == "pid1" and .state == "running" and
      .entrypoint.command == "sh" and .signals_forwarded.SIGUSR1 == 1 and
      .last_signal.name == "SIGUSR1" and .zombies.count == 0' <<<"$output"
    # Another user may not look, and is told so; root without rights neither.
    run docker exec --user 4321 shows "$init" --status
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "foster: "*permi* ]]
    docker rm -f shows
  done
}

@test "docker: --status shows zombies under the parent that never waits" {
  local way
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name neglects "${TMP[@]}" -- \
      sh -c 'mkfifo /tmp/never; sleep 999 & pids=$!; sleep 999 & pids="$pids $!"
        echo $pids >/tmp/pids; echo READY; exec cat /tmp/never'
    wait_until docker_said neglects READY
    docker exec neglects sh -c 'kill $(cat /tmp/pids)'
    wait_until status_has neglects '.zombies.count == 2 and
      (.zombies.by_parent | length) == 1 and
      .zombies.by_parent[0].count == 2 and .zombies.by_parent[0].name == "cat"'
    docker rm -f neglects
  done
}

@test "docker: an OOM kill is said to be one" {
  local way
  for way in "${WAYS[@]}"; do
    run docker_run "$way" --rm -m 32m --memory-swap 32m -- \
      dd if=/dev/zero of=/dev/null bs=256M count=1
    [ "$status" -eq 137 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "foster: "*SIGKILL*"OOM killer struck"* ]]
    # And one that isn't is not.
    run docker_run "$way" --rm -m 32m -- sh -c 'kill -KILL $$'
    [ "$status" -eq 137 ]
    [[ $output == "foster: "*SIGKILL* ]]
    [[ $output != *"OOM killer struck"* ]]
  done
}

@test "docker: what is left behind is told, and the exit code stays" {
  local way
  for way in "${WAYS[@]}"; do
    run docker_run "$way" --rm "${TMP[@]}" -- \
      sh -c "$(leaves 'echo told; exit 0') exit 3"
    [ "$status" -eq 3 ]
    [ "$output" = told ]
  done
}

@test "docker: stop is not overrun by something that will not go" {
  local way
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name clings "${TMP[@]}" -- \
      sh -c "trap 'exit 4' TERM; $(leaves '') $WAITS"
    wait_until docker_said clings READY
    # 5 s is the grace period. The engine's patience ends after 10 s, and then
    # the exit code is 137.
    [ "$(milliseconds docker stop clings)" -ge 4900 ]
    [ "$(docker_exit_code clings)" -eq 4 ]
    docker_said clings '^foster: .*killed'
    docker rm clings
  done
}

# The engine leaves its own init out there, so this is for entrypoints only.
@test "docker: in the machine's PID namespace, alone and with -s" {
  local script
  script="$(leaves 'echo told; exit 0') [ \$\$ -ne 1 ] && exit 5"
  # Not PID 1: what is left behind is not init's, and not a word is said.
  run docker_run entrypoint --rm --pid=host "${TMP[@]}" -- sh -c "$script"
  [ "$status" -eq 5 ]
  [ -z "$output" ]
  run docker_run entrypoint --rm --pid=host -e FOSTER_OPTIONS=-s "${TMP[@]}" \
    -- sh -c "$script"
  [ "$status" -eq 5 ]
  [ "$output" = told ]
  run docker_run entrypoint --rm --pid=host -e TINI_SUBREAPER= "${TMP[@]}" \
    -- sh -c "$script"
  [ "$status" -eq 5 ]
  [ "$output" = told ]
}

@test "docker: --report on a bind-mounted file, as Kubernetes reads it" {
  local way
  for way in "${WAYS[@]}"; do
    : >"$ENGINE/termination-log"
    run docker_run "$way" --rm -e FOSTER_OPTIONS=--report=/dev/termination-log \
      -v "$ENGINE/termination-log:/dev/termination-log" --read-only -- \
      sh -c 'kill -TERM $$'
    [ "$status" -eq 143 ]
    json_is '.exit_code == 143 and .signal == "SIGTERM" and
      .oom_kill == false and .max_rss_kib > 0' <"$ENGINE/termination-log"
  done
}

@test "docker: pause, unpause and restart" {
  local way
  for way in "${WAYS[@]}"; do
    docker_run "$way" -d --name again "${TMP[@]}" -- sh -c "$WAITS"
    wait_until docker_said again READY
    docker pause again
    docker unpause again
    [ "$(milliseconds docker restart --time 90 again)" -lt 30000 ]
    [ "$(docker inspect --format '{{.State.Running}}' again)" = true ]
    docker stop again
    [ "$(docker_exit_code again)" -eq 143 ]
    docker rm again
  done
}
