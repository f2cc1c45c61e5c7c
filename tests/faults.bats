# Each system call that foster makes is made to fail, with each errno that
# faults.table has for it; the outcome has to be the table's. Which calls those
# are is found by tracing a run without faults, in each mode.
#
# Here a call that is made many times, or in several modes, fails the first
# time that it is made; `make check-faults` takes each of its occurrences.
#
# With another libc than musl the start makes other calls: not-glibc.

load helpers

# faults CODE OUTPUT WHO PLACE [OPTION...] PROGRAM...
faults() {
  requires strace
  local said status=0
  said=$(bash "$BATS_TEST_DIRNAME/faults.bash" "$BATS_FILE_TMPDIR" "$@" 3>&-) ||
    status=$?
  echo "# $BATS_TEST_DESCRIPTION: $said" >&3
  is "$status" 0
}

# The program runs, and signals come to it.
goes_on() { faults 42 READY init "$@"; }

# bats file_tags=not-glibc

@test "faults: as PID 1, with an orphan and one that has to be killed" {
  goes_on pid1 -w -k 0.1 "$PROBE" asks leaves queued
}
@test "faults: with -s, -c and queued signals" {
  goes_on plain -s -c -k 0.1 "$PROBE" asks leaves queued
}
@test "faults: without options" {
  goes_on plain "$PROBE" asks
}
@test "faults: a job in a terminal that is stopped, with a report" {
  goes_on terminal -R report "$PROBE" asks stops
}
@test "faults: -p" {
  goes_on plain -p USR1 "$PROBE" asks
}
@test "faults: -p, and the parent ends" {
  goes_on orphan -p USR1 -k 60 -t 60 "$PROBE" asks orphans ends
}
@test "faults: a report to stderr" {
  goes_on plain -R /dev/stderr "$PROBE" asks
}
@test "faults: --pause" {
  faults 0 "" init pause -P
}
@test "faults: a program that is not there" {
  faults 127 "" init plain -R report ./missing
}
@test "faults: a program that cannot be run" {
  echo '#!/missing' >program
  chmod +x program
  faults 126 "" init plain "$PWD/program"
}
@test "faults: --status" {
  faults 0 '{"version":*}' reader status --status=2
}
