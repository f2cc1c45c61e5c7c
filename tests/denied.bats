# System calls that a sandbox denies (EPERM) or an old kernel or engine lacks
# (ENOSYS): denied to init and to all under it, from its start on.
#
# Sanitizers make such calls themselves: not-asan.

load helpers
load asks

bats_require_minimum_version 1.5.0

# bats file_tags=not-asan

EPERM=1 ENOSYS=38

# The program runs, hears a signal, its status comes back, who it left behind
# is gone at the end, and init has nothing to say.
#   goes_on CALL,CALL...
goes_on() {
  local errno command=("${INIT_COMMAND[@]}")
  for errno in "$EPERM" "$ENOSYS"; do
    inside "$PROBE" deny "$errno" "$1"
    asks -- leaves
    is "$output" READY
    INIT_COMMAND=("${command[@]}")
  done
}

# 125, one line that says why, and nothing is run.
#   is_fatal CALL,CALL... LINE
is_fatal() {
  local errno
  for errno in "$EPERM" "$ENOSYS"; do
    run "$PROBE" deny "$errno" "$1" "${INIT_COMMAND[@]}" touch ran
    is "$status" 125
    is "${#lines[@]}" 1
    matches "$output" "^foster: $2: (operation not permitted|function not implemented)\$"
    [[ ! -e ran ]]
  done
}

# What init can go without, and so all of it together. Its program can not do
# without clone.
dispensable=chdir,close_range,fcntl,ftruncate,getpgid,ioctl,lseek,memfd_create
dispensable+=,pidfd_open,pidfd_send_signal,poll,pwritev2,read,rt_sigqueueinfo
dispensable+=,sendto,statx

@test "denied: chdir, close_range: as PID 1" { as_pid1 goes_on chdir,close_range; }
@test "denied: memfd_create: as PID 1" { as_pid1 goes_on memfd_create; }
@test "denied: seals: as PID 1" { as_pid1 goes_on seal; }
@test "denied: pidfd_open, pidfd_send_signal: as PID 1" { as_pid1 goes_on pidfd_open,pidfd_send_signal; }
@test "denied: setpgid: as a subreaper" { as_subreaper goes_on setpgid; }
@test "denied: waitid: as PID 1" { as_pid1 goes_on waitid; }
@test "denied: waitid: as a subreaper" { as_subreaper goes_on waitid; }
@test "denied: poll: as PID 1" { as_pid1 goes_on poll; }
@test "denied: poll: as a subreaper" { as_subreaper goes_on poll; }
@test "denied: all that can be missing together: as PID 1" { as_pid1 goes_on "$dispensable,readlinkat,waitid"; }
# A subreaper learns from /proc or from waitid who its children are.
@test "denied: all that can be missing together: as a subreaper" { as_subreaper goes_on "$dispensable,readlinkat"; }
@test "denied: all that can be missing together, with waitid: as a subreaper" { as_subreaper goes_on "${dispensable/,read,/,},waitid"; }

@test "denied: readlink and waitid: a subreaper leaves whom it does not know" {
  as_subreaper :
  inside "$PROBE" deny "$EPERM" readlinkat,waitid
  asks -- leaves
  is "$output" "READY
foster: some processes cannot be killed: leaving them
outlived"
}

@test "denied: signalfd4 is fatal: as a subreaper" { as_subreaper is_fatal signalfd4 "cannot receive signals"; }
@test "denied: vfork is fatal: as a subreaper" { as_subreaper is_fatal clone,clone3,fork,vfork "cannot fork"; }

# It is not a subreaper then, so what the program leaves is left alone.
@test "denied: without prctl -s is a warning" {
  local errno
  for errno in "$EPERM" "$ENOSYS"; do
    run "$PROBE" deny "$errno" prctl "$FOSTER" -s sh -c 'exit 5'
    is "$status" 5
    is "${#lines[@]}" 1
    matches "$output" '^foster: -s: cannot be a subreaper: '
  done
}

# A job in a terminal: without ioctl it stays where it is.
@test "denied: ioctl, in a terminal" {
  local errno
  for errno in "$EPERM" "$ENOSYS"; do
    run "$PROBE" launch terminal "$PROBE" deny "$errno" ioctl \
      "$FOSTER" "$PROBE" asks stops
    is "$status" 42
    is "$output" READY
  done
}

# Not up to RLIMIT_NOFILE, which engines set to a billion.
@test "denied: without close_range a few thousand are closed at most" {
  requires strace
  local most
  run -5 strace -f -qq -o trace -e trace=close,close_range \
    -e inject=close_range:error=EPERM \
    bash -c 'ulimit -n $(ulimit -Hn); exec "$@"' bash "$FOSTER" sh -c 'exit 5'
  most=$(awk '/close\(/ { n[$1]++; if (n[$1] > most) most = n[$1] }
    END { print most }' trace)
  echo "$most closed, of $(ulimit -Hn)"
  grep -q INJECTED trace
  ((most > 1000 && most < 5000 && $(ulimit -Hn) > 5000))
}

# While a clock runs (-t) init waits with poll, else with read alone; without
# them in another way, and without spinning.
still_waits() {
  local errno
  for errno in "$EPERM" "$ENOSYS"; do
    inside "$PROBE" deny "$errno" "$1"
    start -t 100 "$PROBE" signals 10
    ready
    signal USR2
    expect "program 12 user 0"
    no_wakeup
    signal TERM
    expect "program 15 user 0"
    no_wakeup
    "$PROBE" sigqueue "$INIT" 40 7
    expect "program 40 queue 7"
    signal USR1
    expect "program 10 user 0"
    finish
    is "$status" 0
    is "$stderr" ""
    as_"$MODE" :
  done
}
@test "denied: poll, and a clock runs: as PID 1" { as_pid1 still_waits poll; }
@test "denied: poll, and a clock runs: as a subreaper" { as_subreaper still_waits poll; }
@test "denied: read: as PID 1" { as_pid1 still_waits read; }
@test "denied: read: as a subreaper" { as_subreaper still_waits read; }
