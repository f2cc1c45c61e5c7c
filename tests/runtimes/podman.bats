#!/usr/bin/env bats
# foster in podman: as the init of `podman run --init`, as an image's
# ENTRYPOINT, and as the init of a pod.

bats_require_minimum_version 1.5.0
load engine

setup_file() { engine_start podman; }
teardown_file() { engine_stop; }

IDLES='mkfifo /tmp/never; exec 3<>/tmp/never; echo READY; read never <&3'

@test "podman: --init --init-path passes the exit code on" {
  run podman_run --rm --init --init-path "$ENGINE/foster" base:1 \
    sh -c 'tr "\0" " " </proc/1/cmdline | cut -d " " -f 1; exit 5'
  [ "$status" -eq 5 ]
  [ "$output" = /run/podman-init ]
}

@test "podman: init_path in containers.conf is taken, over a plain root folder" {
  run podman_run --rm --init --rootfs "$ENGINE/rootfs" \
    sh -c 'tr "\0" " " </proc/1/cmdline | cut -d " " -f 1; kill -INT $$'
  [ "$status" -eq 130 ]
  [ "${lines[0]}" = /run/podman-init ]
}

@test "podman: an image with foster as its entrypoint, built and run" {
  mkdir image
  install -m 755 "$ENGINE/foster" image/foster
  cat >image/Containerfile <<'END'
FROM base:1
COPY foster /sbin/foster
ENTRYPOINT ["/sbin/foster", "--"]
END
  podman build --isolation chroot --tag entrypoint:1 image
  run podman_run --rm --read-only --cap-drop all --user 1234 \
    --security-opt no-new-privileges entrypoint:1 sh -c 'id -u; exit 4'
  [ "$status" -eq 4 ]
  [ "$output" = 1234 ]
  run -127 podman_run --rm entrypoint:1 no-such-program
  [[ $output == "foster: "*no-such-program* ]]
  podman rmi entrypoint:1
}

@test "podman: stop gives 143 at once, and leftovers are reaped meanwhile" {
  podman_run -d --init --name stops base:1 \
    sh -c "for n in 1 2 3; do (true &); done; $IDLES"
  wait_until podman_said stops READY
  wait_until reaped stops 3
  run podman exec stops sh -c 'cat /proc/[0-9]*/stat | grep -c " Z "'
  [ "$output" = 0 ]
  [ "$(milliseconds podman stop --time 90 stops)" -lt 30000 ]
  [ "$(podman inspect --format '{{.State.ExitCode}}' stops)" -eq 143 ]
  podman rm stops
}

reaped() {
  podman exec "$1" /run/podman-init --status |
    json_is ".mode == \"pid1\" and .orphans_reaped == $2" || not_yet
}

@test "podman: kill sends signals through, in order" {
  podman_run -d --init --name hears base:1 \
    sh -c "trap 'echo got 1' HUP; trap 'echo got 37' 37; trap 'exit 0' USR1
      ${IDLES%read*} while :; do read never <&3; done"
  wait_until podman_said hears READY
  podman kill --signal HUP hears
  wait_until podman_said hears 'got 1'
  podman kill --signal 37 hears
  wait_until podman_said hears 'got 37'
  podman kill --signal USR1 hears
  [ "$(podman wait hears)" -eq 0 ]
  podman rm hears
}

# An infra container's root holds nothing but the init, here /catatonit, which
# is run with -P. With a shared PID namespace it is PID 1 of the whole pod.
@test "podman: a pod's infra container pauses, reaps for all, and stops" {
  local infra
  podman pod create --name pod --network none --share pid,ipc,uts \
    --cgroup-parent "$ENGINE_CGROUP"
  podman pod start pod
  infra=$(podman pod inspect pod | jq --raw-output '.InfraContainerID')
  [ "$(podman inspect --format '{{.State.Status}}' "$infra")" = running ]

  # A container of the pod that leaves orphans, and looks for zombies.
  run podman run --rm --pod pod base:1 sh -c 'tr "\0" " " </proc/1/cmdline; echo
    for n in 1 2 3 4 5; do (true &); done
    while grep -l "^State:.Z" /proc/[0-9]*/status; do :; done; exit 3'
  [ "$status" -eq 3 ]
  [ "${lines[0]}" = "/catatonit -P " ]

  # Nothing to run --status with is in there: the machine looks at it instead.
  run "$ENGINE/foster" --status="$(podman inspect --format '{{.State.Pid}}' \
    "$infra")"
  [ "$status" -eq 0 ]
  json_is '.state == "paused" and .orphans_reaped == 5' <<<"$output"

  [ "$(milliseconds podman pod stop --time 90 pod)" -lt 30000 ]
  [ "$(podman inspect --format '{{.State.ExitCode}}' "$infra")" -eq 0 ]
  podman pod rm pod
}

@test "podman: on a terminal, ^Z doesn't freeze it, and closing it hurts nobody" {
  terminal_start podman run -it --init --network none \
    --cgroup-parent "$ENGINE_CGROUP/containers" --name tty base:1 \
    sh -c 'echo READY; exec cat'
  wait_until screen_shows READY
  type_keys '\032'
  wait_until screen_shows_part '\^Z'
  type_keys 'on\n'
  wait_until screen_shows on
  type_keys '\003'
  terminal_end
  [ "$status" -eq 130 ]
  podman rm tty
}
