# shellcheck shell=bash
# What the tests of the drain share.

# leave SCRIPT [OPTION...]: start init over a shell that runs SCRIPT, in which
# $P is the probe. It ends, with exit code 7, when `entrypoint_ends` is called.
leave() {
  mkfifo -m 666 gate
  start "${@:2}" -- sh -c "P=\$1
    $1
    # A signal with a trap interrupts it.
    until { read -r _ <gate; } 2>/dev/null; do :; done
    exit 7" sh "$PROBE"
}

# Begins the time that `took` measures.
entrypoint_ends() {
  local fd
  exec {fd}<>gate
  begin=$(clock)
  echo >&"$fd"
  # The line is lost if the FIFO is closed before it is read.
  GATE=$fd
}

# took FROM TO: in milliseconds since `begin` was set; from both sides.
took() {
  local span=$((($(clock) - begin) / 1000))
  ((span >= $1 && span <= $2)) && return
  echo "took $span ms, not $1 to $2; stderr: $(<stderr)" >&2
  return 1
}

# expect_all LINE...: the next lines, in any order.
expect_all() {
  local line wanted got=()
  for wanted; do
    next_line
    got+=("$line")
  done
  is "$(printf '%s\n' "${got[@]}" | sort)" "$(printf '%s\n' "$@" | sort)"
}

# Poll until so many milliseconds have passed since `begin`.
passed() { ((${EPOCHREALTIME/[.,]/} >= begin + $1 * 1000)); }

killed() { # killed COUNT NAME...: the one warning, and the names in it
  local names="[0-9]+ \($2\)" name
  for name in "${@:3}"; do
    names+=", [0-9]+ \($name\)"
  done
  matches "$stderr" "^foster: killed $1 that had not ended in time: $names\$"
}

# The user that a test takes if it is run by root: one that nobody else is, not
# even a test that runs beside it.
ANYBODY=$((50000 + $$ % 10000))
DROP=(setpriv --reuid "$ANYBODY" --regid "$ANYBODY" --clear-groups)
as_anybody() {
  for_anybody
  WRAPPER=("${DROP[@]}")
}

# That user may not come to where the programs are, e.g. in /root.
for_anybody() {
  requires root setpriv
  chmod 755 . .. ../..
  cp "$FOSTER" foster
  cp "$PROBE" probe
  INIT_COMMAND=("${INIT_COMMAND[@]/#"$FOSTER"/"$PWD/foster"}")
  FOSTER=$PWD/foster
  PROBE=$PWD/probe
}
