# shellcheck shell=bash
# What denied.bats, limits.bats and hostile.bats share.

# asks [OPTION...] -- [WORD...]: init runs the probe that asks it for a signal,
# to its end, in the mode that the test has set. $output is what both said, but
# for the line on whom the probe left behind, who have to be killed, and were.
asks() {
  local options=() command=("${INIT_COMMAND[@]}")
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  # What it waits for.
  inside "$PROBE" with block=10,12,15
  run timeout -k 1 "$PATIENCE" "${INIT_COMMAND[@]}" -k 0.2 "${options[@]}" \
    "$PROBE" asks "$@"
  INIT_COMMAND=("${command[@]}")
  is "$status" 42
  output=$(sed '/killed [12] that had not ended in time/d' <<<"$output")
}
