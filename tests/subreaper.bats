# -s: adopt orphans although not PID 1; and who adopts them without it.

load helpers

# A daemon's parent is init.
adopts() {
  start "$@" sh -c '"$1" daemon "$1" hold; exec "$1" signals' sh "$PROBE"
  ready
  ready
  wait_until children_of_are "$INIT" 2
  signal TERM
  expect "program 15 user 0"
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "subreaper: it adopts daemons: as PID 1" { as_pid1 adopts; }
@test "subreaper: it adopts daemons: as PID 1 with -s" { as_pid1 adopts -s; }
@test "subreaper: it adopts daemons: with -s" { as_plain adopts -s; }
@test "subreaper: it adopts daemons: with --subreaper" { as_plain adopts --subreaper; }

adopts_by_environment() {
  export TINI_SUBREAPER="$1"
  adopts
}
@test "subreaper: it adopts daemons: with TINI_SUBREAPER set to nothing" { as_plain adopts_by_environment ""; }
@test "subreaper: it adopts daemons: with TINI_SUBREAPER=1" { as_plain adopts_by_environment 1; }
@test "subreaper: it adopts daemons: with FOSTER_OPTIONS=-s" {
  export FOSTER_OPTIONS=-s
  as_plain adopts
}

# The orphan is left to whoever adopts it: here an outer init, so that nothing
# is left behind.
does_not_adopt() {
  start "$FOSTER" "$@" sh -c '"$1" daemon "$1" hold; exec "$1" signals' sh "$PROBE"
  ready
  ready
  local inner
  inner=$(entrypoint)
  wait_until children_of_are "$INIT" 2
  children_of_are "$inner" 1
  "$PROBE" send "$inner" 15
  expect "program 15 user 0"
  finish
  is "$status" 0
  is "$stderr" ""
}
@test "subreaper: without -s it has no claim: as a child of PID 1" { as_pid1 does_not_adopt; }
@test "subreaper: without -s it has no claim: as a child of a subreaper" { as_subreaper does_not_adopt; }
@test "subreaper: TINI_SUBREAPER=0 is without" {
  as_subreaper does_not_adopt_by_environment
}
does_not_adopt_by_environment() {
  export TINI_SUBREAPER=0
  does_not_adopt
}

@test "subreaper: without -s only -v says that orphans are not ours" {
  as_plain
  try foster -v true
  is "$status" 0
  matches "$output" 'foster: .*-s'
  try foster true
  is "$output" ""
}

@test "subreaper: where it is refused one line warns, and the program runs" {
  requires strace
  as_subreaper
  # The first prctl of init; later ones, of its child, go through.
  run strace -qq -o trace -e trace=prctl -e inject=prctl:error=EPERM:when=1 \
    "$FOSTER" -s sh -c 'exit 6'
  is "$status" 6
  matches "$output" '^foster: .*subreaper'
  is "${#lines[@]}" 1
  grep -q 'PR_SET_CHILD_SUBREAPER.*INJECTED' trace
}

# A subreaper below us takes its own orphans, and leaves them to us as it dies.
a_nested_one_dies() {
  start "$FOSTER" -s sh -c '"$1" daemon "$1" hold; exec "$1" hold' sh "$PROBE"
  ready
  ready
  local inner
  inner=$(entrypoint)
  wait_until children_of_are "$inner" 2
  children_of_are "$INIT" 1
  kill -KILL "$inner"
  # The daemon comes to us and is told to end.
  finish
  is "$status" 137
}
@test "subreaper: a dying nested one leaves its orphans to us: as PID 1" { as_pid1 a_nested_one_dies; }
@test "subreaper: a dying nested one leaves its orphans to us: as a subreaper" { as_subreaper a_nested_one_dies; }

# Of a PID namespace below us only its init is ours.
a_nested_namespace_ends() {
  requires pid_namespace
  start unshare "${UNSHARE_FLAGS[@]}" sh -c \
    '"$1" daemon "$1" hold; exec "$1" hold' sh "$PROBE"
  ready
  ready
  local outer
  outer=$(entrypoint)
  wait_until children_of_are "$outer" 1
  kill -KILL "$(first_child "$outer")"
  finish
  ((status != 0))
}
@test "subreaper: a nested PID namespace ends as one: as PID 1" { as_pid1 a_nested_namespace_ends; }
@test "subreaper: a nested PID namespace ends as one: as a subreaper" { as_subreaper a_nested_namespace_ends; }
