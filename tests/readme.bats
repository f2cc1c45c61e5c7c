#!/usr/bin/env bats
# What README and the manual say is so: their commands are run, and their tables
# compared with what foster has. What needs an engine is in tests/runtimes.

bats_require_minimum_version 1.5.0
load helpers

setup() {
  common_setup
  mkdir bin
  ln -s "$FOSTER" bin/foster
  PATH=$PWD/bin:$PATH
}

README=$BATS_TEST_DIRNAME/../README.md
MANUAL=$BATS_TEST_DIRNAME/../src/foster.1

# section HEADING: the text under that "## " of README.
section() {
  awk -v heading="## $1" '
    /^## / { inside = $0 == heading; next }
    inside { print; found = 1 }
    END { exit !found }' "$README"
}

# command REGEX: the one piece of indented code in README that begins with it.
command_of() {
  awk -v wanted="^    $1" '
    $0 ~ wanted && !inside { inside = 1; count++ }
    inside && !/^    / { inside = 0 }
    inside { print substr($0, 5) }
    END { exit count != 1 }' "$README"
}

@test "readme: every test that it names is there" {
  local name count=0
  while IFS= read -r name; do
    grep -Fqr --include='*.bats' -- "@test \"$name" "$BATS_TEST_DIRNAME" ||
      is "no such test" "$name"
    count=$((count + 1))
  done < <(grep -oP '(?<=`)[a-z]+: [^`]+(?=`)' <<<"$(
    section 'Beside tini, dumb-init and catatonit'
  )")
  ((count >= 14))
}

# The letters and long names in a text: -c, --single-child.
options_in() { grep -oE -- '(^|[^-[:alnum:]])(-[a-zA-Z]|--[a-z-]+)\b' | grep -oE -- '-.*' | sort -u; }

@test "readme: its options are those of --help" {
  local help
  help=$("$FOSTER" --help | expand | sed -n 's/^  *\(-.*\)/\1/p' |
    sed 's/   .*//; s/\(--[a-z-]*\).*SECONDS.*/&/' | options_in)
  is "$(section Options | sed -n 's/^| \(`-[^|]*\)|.*/\1/p' | options_in)" "$help"
}

@test "readme: the manual has the options of --help" {
  local option name
  for option in $("$FOSTER" --help | sed -n '/^  *-/p' | options_in); do
    name=${option#-}
    grep -Eq "^\.It Fl (.* Fl )?${name/#-/-}( |$)" "$MANUAL" ||
      is "not in foster.1" "$option"
  done
}

@test "readme: its fields are those of --status and --report" {
  requires jq
  local fields
  start -s -R report "$PROBE" hold
  ready
  wait_until has_status
  signal TERM
  finish
  fields=$(jq -r 'keys[]' status report | sort -u)
  is "$(section 'Looking inside' | sed -n 's/^| \(`[^|]*\)|.*/\1/p' |
    grep -oE '[a-z_]+' | sort -u)" "$fields"
}
has_status() { "$FOSTER" --status="$INIT" >status 2>/dev/null; }

@test "readme: its jq lines for --status and --report" {
  requires jq
  local line
  foster -s -R report.json sh -c 'sleep 60 & exit 3' || is $? 3
  while IFS= read -r line; do
    run bash -c "$line"
    is "$status" 0
    is "$output" '{
  "exit_code": 3,
  "signal": null,
  "oom_kill": false,
  "left_behind": 1
}'
  done < <(command_of "jq '[{]exit_code")
  run bash -c "$(command_of 'jq -r .to_entries')"
  is "$status" 0
  grep -x 'foster_exit_code 3' <<<"$output"
  grep -x 'foster_left_behind 1' <<<"$output"
  run ! grep -vE '^foster_[a-z_]+ [0-9]+(\.[0-9]+)?$' <<<"$output"

  start -s "$PROBE" negligent 2
  ready
  signal WINCH
  wait_until counted
  run bash -c "$(command_of 'foster --status [|] jq .[.]zom' |
    sed "s/--status/--status=$INIT/" | head -n 1)"
  is "$(jq -c '[.name, .count]' <<<"$output")" '["probe",2]'
  run bash -c "$(command_of 'foster --status [|] jq .[.]zom' |
    sed "s/--status/--status=$INIT/" | tail -n 1)"
  is "$(jq -c . <<<"$output")" '{"SIGWINCH":1}'
  signal TERM
  finish
}
counted() { "$FOSTER" --status="$INIT" 2>/dev/null | grep -q SIGWINCH; }

@test "readme: CI sees what a job left behind" {
  requires jq
  printf '#!/bin/sh\n$LEAK\nexit 3\n' >job
  chmod +x job
  run env LEAK= bash -c "$(command_of 'foster -s -k 5 -R report.json')"
  is "$status" 0
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nsetsid sleep 60 &\nexit 3\n' >job
  run bash -c "$(command_of 'foster -s -k 5 -R report.json')"
  is "$status" 1
  is "$(jq .exit_code report.json)" 3
}

@test "readme: with timeout inside or outside it is 124" {
  local line count=0
  printf '#!/bin/sh\nexec sleep 60\n' >job
  chmod +x job
  while IFS= read -r line; do
    run bash -c "${line/timeout 60/timeout 0.2}"
    is "$line: $status $output" "$line: 124 "
    count=$((count + 1))
  done < <(command_of 'foster -s -- timeout 60')
  is "$count" 2
}

@test "readme: a pod's options, and a sidecar's end by SIGTERM" {
  requires jq
  FOSTER_OPTIONS=$(sed -n 's/^ *value: //p' "$README")
  export FOSTER_OPTIONS=${FOSTER_OPTIONS/\/dev\/termination-log/report}
  INIT_COMMAND=("$FOSTER" --)
  start "$PROBE" hold
  ready
  signal TERM
  finish
  is "$status" 0
  is "$(jq -c '[.mode, .exit_code, .signal]' report)" '["subreaper",0,"SIGTERM"]'
}

@test "readme: the other inits' options that it says are taken" {
  local options
  # tini, dumb-init, catatonit.
  for options in '-g' '-s -g' '-p SIGTERM' '-e 143' '-w' '-vvv' '-s -vv -w' \
    '-c' '--single-child' '-r 15:2' '--rewrite 15:0' '-v' '--verbose'; do
    # shellcheck disable=SC2086
    run "$FOSTER" $options -- true
    is "$options: $status" "$options: 0"
  done
  for options in -h -l -V --version; do
    run "$FOSTER" "$options"
    is "$options: $status" "$options: 0"
  done
}

@test "readme: its picture shows every file of src" {
  local file
  for file in "$BATS_TEST_DIRNAME"/../src/*.c "$MANUAL"; do
    file=${file##*/}
    section Inside | sed -n 's/^      \([a-z].*\)/\1/p' | cut -c 1-17 |
      grep -Fqw -- "$file" || is "not in README" "$file"
  done
}
