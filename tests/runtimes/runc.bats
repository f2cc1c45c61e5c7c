#!/usr/bin/env bats
# foster under runc alone, for what no engine lets through: an empty root, no
# /proc, socket activation, a terminal that really hangs up.

bats_require_minimum_version 1.5.0
load engine

setup_file() { engine_start runc; }
teardown_file() { engine_stop; }
teardown() {
  [[ -z ${TERMINAL_PID-} ]] || terminal_hang_up
  engine_clean
}

@test "runc: the exit code is passed on" {
  bundle code . /foster sh -c 'exit 9'
  run run_bundle code
  [ "$status" -eq 9 ]
  [ -z "$output" ]
}

@test "runc: LISTEN_PID and LISTEN_FDS reach the program as its own" {
  bundle listens . /foster sh -c \
    'echo "$LISTEN_FDS $((LISTEN_PID == $$))"; cat <&3'
  # runc looks whether they are for itself.
  run bash -c 'export LISTEN_PID=$$ LISTEN_FDS=1
    exec runc --root "$RUNC_ROOT" run --bundle "$ENGINE/listens" listens' \
    3<<<"a socket"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "1 1" ]
  [ "${lines[1]}" = "a socket" ]
}

# Everything is drained all the same: by kill(-1), or by pids.
@test "runc: without /proc, what is left behind is told, or killed" {
  # runc itself needs it: it is covered on the way to init.
  local cover='.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"]) |
    .process.args = ["sh", "-c",
      "mount -t tmpfs none /proc && exec \"$@\"", "sh"] + .process.args'
  cover+=' | .mounts += [{destination: "/tmp", type: "tmpfs", source: "tmpfs"}]'
  bundle told "$cover" /foster sh -c "$(leaves 'echo told; exit 0') exit 6"
  run run_bundle told
  [ "$status" -eq 6 ]
  [ "$output" = told ]

  bundle deaf "$cover" /foster -k 0.5 sh -c "$(leaves '') exit 7"
  run run_bundle deaf
  [ "$status" -eq 7 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == "foster: "*killed* ]]
}

# The kernel tells the session's leader only, and that is init.
@test "runc: a terminal that hangs up is told to the program" {
  bundle hangs '.process.terminal = true | .root.readonly = false' /foster \
    sh -c 'trap "echo got HUP >/tmp/hup; exit 3" HUP; echo READY
      while :; do sleep 0.1; done'
  terminal_start runc --root "$RUNC_ROOT" run --bundle "$ENGINE/hangs" hangs
  wait_until screen_shows READY
  local init
  init=$(runc --root "$RUNC_ROOT" state hangs | jq .pid)
  # runc holds the terminal's other end. SIGKILL: it cannot pass a signal on.
  kill -KILL "$(first_child "$TERMINAL_PID")"
  terminal_end
  wait_until gone "$init"
  is "$(cat "$ENGINE/rootfs/tmp/hup")" "got HUP"
  rm "$ENGINE/rootfs/tmp/hup"
  runc --root "$RUNC_ROOT" delete --force hangs
}
