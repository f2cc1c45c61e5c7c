#!/usr/bin/env bats
# What README says of engines is what runs here: the lines are taken from it.

bats_require_minimum_version 1.5.0
load engine

setup_file() { engine_start docker; }
teardown_file() { engine_stop; }

README=$BATS_TEST_DIRNAME/../../README.md

# The one piece of it that a basic regular expression finds.
readme() {
  local found
  found=$(grep -o -- "$1" "$README" | sort -u)
  [[ $(wc -l <<<"$found") -eq 1 && -n $found ]] || {
    printf 'not once in README: %s\n%s\n' "$1" "$found" >&2
    return 1
  }
  printf '%s\n' "$found"
}

@test "readme: its Dockerfile lines are those of Dockerfile.example" {
  local line count=0
  while IFS= read -r line; do
    grep -Fqx -- "$line" "$BATS_TEST_DIRNAME/../../Dockerfile.example"
    count=$((count + 1))
  done < <(sed -n '/^```dockerfile$/,/^```$/p' "$README" | grep -v '^```')
  [ "$count" -ge 3 ]
}

@test "readme: docker run --init, with options by environment" {
  local command
  command=$(readme 'docker run --init -e FOSTER_OPTIONS="[^"]*"')
  run bash -c "$command --rm --network none base:1 sh -c 'exit 4'"
  [ "$status" -eq 4 ]
  [[ $output == *"foster: "*"started process"* ]]
}

@test "readme: --status by docker exec" {
  local command
  command=$(readme 'docker exec CONTAINER /foster --status')
  docker run -d --network none --name shows foster:1 sleep 999
  run bash -c "${command/CONTAINER/shows}"
  [ "$status" -eq 0 ]
  json_is '.state == "running"' <<<"$output"
  docker rm -f shows
}

@test "readme: --report for Kubernetes' termination message" {
  local option
  option=$(readme '[-]-report=/dev/termination-log')
  : >log
  run docker run --rm --network none -v "$PWD/log:/dev/termination-log" \
    --entrypoint /foster foster:1 "$option" -- sh -c 'exit 3'
  [ "$status" -eq 3 ]
  json_is '.exit_code == 3' <log
}

# A service whose leftovers hold a FIFO open, whose end is theirs then.
@test "readme: the lines for use under another init end what is left behind" {
  local command pid
  cat >job <<'END'
#!/bin/sh
setsid sh -c 'echo $$ >pid; exec sleep 999' &
until [ -s pid ]; do sleep 0.01; done
exit 3
END
  chmod +x job
  cp job fixture
  mkdir bin
  ln -s "$FOSTER" bin/foster
  for command in "$(readme 'foster -s -k 2 -- \./job')" \
    "$(readme 'foster -s -p TERM -k 2 -- \./fixture')"; do
    rm -f pid
    run env PATH="$PWD/bin:$PATH" bash -c "$command"
    [ "$status" -eq 3 ]
    [ -z "$output" ]
    gone "$(<pid)"
  done
}

@test "readme: timeout inside foster, and foster inside timeout" {
  local command
  mkdir bin
  ln -s "$FOSTER" bin/foster
  printf '#!/bin/sh\ntrap "" TERM\nsetsid sleep 999 &\nsleep 999\n' >job
  chmod +x job
  command=$(readme 'foster -s -- timeout 60 \./job')
  run env PATH="$PWD/bin:$PATH" FOSTER_OPTIONS='-k 0.2' \
    bash -c "${command/timeout 60/timeout -k 0.1 0.2}"
  [ "$status" -eq 137 ]
  command=$(readme 'timeout 60 foster -s -t 5 -- \./job')
  command=${command/timeout 60/timeout 0.2}
  run env PATH="$PWD/bin:$PATH" FOSTER_OPTIONS='-k 0.2' \
    bash -c "${command/-t 5/-t 0.3}"
  [ "$status" -eq 124 ]
}
