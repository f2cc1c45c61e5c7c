# The room that foster takes, in bytes, pages and system calls: none of them
# depends on how busy the machine is. The benchmark measures the rest.

# bats file_tags=not-asan,not-glibc

load helpers

# The budget is that of the static binary with musl, which `make` builds where
# it can; all others are larger.
static_musl() {
  requires readelf
  if readelf -lW "$FOSTER" | grep -q INTERP; then
    skip "not a static build"
  fi
  # What glibc reads in every static binary.
  if grep -aq GLIBC_TUNABLES "$FOSTER"; then
    skip "not built with musl"
  fi
}

@test "budget: the stripped binary is at most 32 KiB" {
  static_musl
  is "$(readelf -SW "$FOSTER" | grep -cE '\.(symtab|debug)')" 0
  local size
  size=$(stat -c %s "$FOSTER")
  echo "$size bytes"
  ((size <= 32 * 1024))
}

# After it has reaped an orphan and forwarded a signal: what init has touched
# stays with it.
resident_set() {
  # The stack begins where in its page it will, below the environment.
  local fixed=(env -i "PATH=$PATH" "FOSTER_TEST_ID=$FOSTER_TEST_ID")
  if setarch -R true; then
    fixed+=(setarch -R)
  fi
  inside "${fixed[@]}"
  # shellcheck disable=SC2016
  start sh -c '(true &); exec "$0" signals' "$PROBE"
  ready
  wait_until children_of_are "$INIT" 1
  signal USR1
  expect "program 10 user 0"
  local size
  size=$(awk '/^Rss:/ { print $2 }' "/proc/$INIT/smaps_rollup")
  signal TERM
  finish
  echo "$size KiB"
  ((size > 0 && size <= 48))
}
@test "budget: the resident set is at most 48 KiB" {
  static_musl
  as_pid1 resident_set
}

# The system calls from init's own exec to the program's, both included, as
# strace saw them: one whose end comes later ("resumed") counts where it began.
calls_before_program() {
  awk -v init="execve(\"$FOSTER\"" -v program='execve("/bin/true"' '
    index($0, init) { counting = 1 }
    !counting || /resumed>/ || !/^[0-9]+ +[a-z]/ { next }
    { calls++; print }
    index($0, program) { print calls; exit }
  ' trace
}

start_is_short() {
  # Without a controlling terminal.
  setsid -w strace -f -o trace "${INIT_COMMAND[@]}" /bin/true
  calls_before_program >calls
  cat calls
  (($(tail -n 1 calls) <= $1))
}
@test "budget: at most 11 system calls before the program's first: as PID 1" {
  requires strace
  static_musl
  as_pid1 start_is_short 11
}
# Two more for the parent's death, one less since it inherits no children.
@test "budget: at most 12 system calls before the program's first: not as PID 1" {
  requires strace
  static_musl
  as_plain start_is_short 12
}

# The status page and the OOM killer's counter cost more than all the rest of a
# short life. A busy machine may make any life a long one, so one has to do.
short_life_is_cheap() {
  setsid -w strace -f -o trace "${INIT_COMMAND[@]}" /bin/true
  grep -q 'wait4.* = [0-9]' trace && ! grep -E 'memfd_create|cgroup' trace
}
@test "budget: a short life makes no status page: as PID 1" {
  requires strace
  as_pid1 wait_until short_life_is_cheap
}
@test "budget: a short life makes no status page: not as PID 1" {
  requires strace
  as_plain wait_until short_life_is_cheap
}
