# Real container engines for the tests. Each file of tests starts its own, in a
# folder of its own, and stops it: nothing of the machine's engines is touched.
#
# engine_start docker|podman|runc   for setup_file; exports ENGINE, the folder
# engine_stop                       for teardown_file; fails if anything leaked
# engine_clean                      after each test; fails if it left a container

# Longer than elsewhere: an engine takes its time to start a container.
: "${PATIENCE:=90}"
load ../helpers
FOSTER=$(realpath "$FOSTER")

setup() { common_setup; }
teardown() { engine_clean; }

# All that an engine starts is in this cgroup, so all of it can be found by pid.
engine_cgroup_dirs() {
  local root
  for root in /sys/fs/cgroup /sys/fs/cgroup/*; do
    [[ -n ${ENGINE_CGROUP-} && -d $root$ENGINE_CGROUP ]] || continue
    printf '%s\n' "$root$ENGINE_CGROUP"
  done
}

engine_pids() {
  local dir
  for dir in $(engine_cgroup_dirs); do
    find "$dir" -name cgroup.procs -exec cat {} + 2>/dev/null
  done | sort -nu
}

# The subshell that calls this, and its children, join the engine's cgroup.
engine_join_cgroup() {
  local root=/sys/fs/cgroup
  [[ -e $root/cgroup.procs ]] || root=$root/pids
  mkdir -p "$root$ENGINE_CGROUP/engine"
  printf '%s\n' "$BASHPID" >"$root$ENGINE_CGROUP/engine/cgroup.procs"
}

# milliseconds COMMAND...: run it, its output to stderr, and print how long.
milliseconds() {
  local start=${EPOCHREALTIME/[.,]/}
  "$@" >&2 || return
  printf '%d\n' $(((${EPOCHREALTIME/[.,]/} - start) / 1000))
}

# json_is FILTER: stdin is one JSON value, of which that is true. Not jq's own
# --exit-status alone: with nothing to read it is 0.
json_is() {
  jq --exit-status --slurp "length == 1 and (.[0] | ($1))" >/dev/null
}

# A root file system of busybox alone, with foster in it.
engine_rootfs() {
  local root=$1
  mkdir -p "$root/bin" "$root/tmp" "$root/proc" "$root/sys" "$root/dev"
  chmod 1777 "$root/tmp"
  cp "$(command -v busybox)" "$root/bin/busybox"
  chroot "$root" /bin/busybox --install -s /bin
  install -m 755 "$ENGINE/foster" "$root/foster"
}

# leaves TRAP: the text of a script for the container's sh that leaves a process
# behind, in a session of its own and with that trap for SIGTERM, and goes on
# once it is set.
leaves() {
  printf '%s' "mkfifo /tmp/up /tmp/idle; setsid sh -c 'trap \"$1\" TERM
    exec 4<>/tmp/idle; echo up >/tmp/up; while :; do read idle <&4; done' &
    read up </tmp/up; "
}

engine_start() {
  local kind=$1
  engine_needs "$kind"
  ENGINE=$(mktemp -d "${TMPDIR:-/tmp}/foster-engine.XXXXXX")
  ENGINE_CGROUP=/${ENGINE##*/}
  ENGINE_KIND=$kind
  export ENGINE ENGINE_CGROUP ENGINE_KIND
  # Containers' users look through this folder to the init in it.
  chmod 755 "$ENGINE"
  # A copy, so that a build meanwhile does no harm.
  install -m 755 "$FOSTER" "$ENGINE/foster"
  engine_rootfs "$ENGINE/rootfs"
  "engine_start_$kind"
}

engine_needs() {
  local tool tools=(jq busybox script)
  case $1 in
    docker) tools+=(docker dockerd containerd runc) ;;
    podman) tools+=(podman conmon runc) ;;
    runc) tools+=(runc) ;;
    *)
      printf 'engine_needs: what is %s?\n' "$1" >&2
      return 1
      ;;
  esac
  [[ -x $FOSTER ]] || {
    printf 'no foster at %s\n' "$FOSTER" >&2
    return 1
  }
  requires root
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
  done
}

# --- Docker ------------------------------------------------------------------

# The images: base:1 is busybox alone; foster:1 is the same with foster as its
# ENTRYPOINT; alone:1 holds foster and nothing else at all.
# A client that hangs must not hang the tests.
docker() { timeout --kill-after=5 120 docker "$@"; }

engine_start_docker() {
  export DOCKER_HOST=unix://$ENGINE/docker.sock DOCKER_CONFIG=$ENGINE/config
  export DOCKER_BUILDKIT=0
  engine_start_dockerd overlay2 || engine_start_dockerd vfs
  tar -C "$ENGINE/rootfs" -c . | docker import - base:1
  tar -C "$ENGINE/rootfs" -c . |
    docker import --change 'ENTRYPOINT ["/foster", "--"]' - foster:1
  tar -C "$ENGINE" -c foster |
    docker import --change 'ENTRYPOINT ["/foster"]' - alone:1
}

engine_start_dockerd() {
  (
    engine_join_cgroup
    exec dockerd --data-root "$ENGINE/data" --exec-root "$ENGINE/exec" \
      --host "$DOCKER_HOST" --pidfile "$ENGINE/dockerd.pid" \
      --bridge=none --iptables=false --storage-driver="$1" \
      --cgroup-parent "$ENGINE_CGROUP/containers" \
      --init-path "$ENGINE/foster"
  ) >"$ENGINE/dockerd.log" 2>&1 </dev/null 3>&- &
  export DOCKERD_PID=$!
  if ! wait_until engine_dockerd_answers_or_ended ||
    ! engine_dockerd_answers; then
    tail -n 20 "$ENGINE/dockerd.log" >&2
    engine_end_pid "$DOCKERD_PID"
    return 1
  fi
}

engine_dockerd_answers() { docker version >/dev/null 2>&1 || not_yet; }
engine_dockerd_answers_or_ended() {
  engine_dockerd_answers || ! engine_alive "$DOCKERD_PID"
}

# docker_run WAY [OPTION...] -- COMMAND...: under foster, which is either the
# image's ENTRYPOINT ("entrypoint") or the engine's own init ("init").
docker_run() {
  local way=$1 options=(--network none)
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  case $way in
    entrypoint) options+=(foster:1) ;;
    init) options+=(--init base:1) ;;
    *)
      printf 'docker_run: what is %s?\n' "$way" >&2
      return 1
      ;;
  esac
  docker run "${options[@]}" "$@"
}

# docker_said NAME PATTERN: the container has written a line that matches.
docker_said() {
  docker logs "$1" 2>&1 | tr -d '\r' | grep -q -- "$2" || not_yet
}

# For wait_until: asking an engine costs more than its own pause.
not_yet() {
  sleep 0.1
  false
}

# docker_pid NAME: the pid of its init, as this machine sees it.
docker_pid() { docker inspect --format '{{.State.Pid}}' "$1"; }

# docker_exit_code NAME: the status with which it ended.
docker_exit_code() { docker inspect --format '{{.State.ExitCode}}' "$1"; }

# --- podman ------------------------------------------------------------------

# All of podman's places are in the engine's folder. Its own idea of an init for
# a pod's infra container is a program named catatonit.
engine_start_podman() {
  export CONTAINERS_CONF=$ENGINE/containers.conf
  export CONTAINERS_STORAGE_CONF=$ENGINE/storage.conf
  mkdir -p "$ENGINE/helpers" "$ENGINE/networks"
  install -m 755 "$ENGINE/foster" "$ENGINE/helpers/catatonit"
  cat >"$CONTAINERS_CONF" <<CONF
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = "$ENGINE/podman"
helper_binaries_dir = ["$ENGINE/helpers"]
init_path = "$ENGINE/foster"
[engine.runtimes]
runc = ["$BATS_TEST_DIRNAME/runc-no-rlimits"]
[network]
network_config_dir = "$ENGINE/networks"
CONF
  cat >"$CONTAINERS_STORAGE_CONF" <<CONF
[storage]
driver = "vfs"
graphroot = "$ENGINE/storage"
runroot = "$ENGINE/run"
CONF
  tar -C "$ENGINE/rootfs" -c . | podman import --quiet - base:1
}

podman_run() {
  podman run --network=none --cgroup-parent "$ENGINE_CGROUP/containers" "$@"
}

podman_said() { podman logs "$1" 2>&1 | grep -q -- "$2" || not_yet; }

# --- runc, without an engine -------------------------------------------------

engine_start_runc() { export RUNC_ROOT=$ENGINE/runc; }

# bundle NAME JQ-FILTER COMMAND...: a bundle folder over the shared rootfs, made
# by `runc spec` and the filter, for `runc run`.
bundle() {
  local name=$1 filter=$2 word
  shift 2
  mkdir -p "$ENGINE/$name"
  (cd "$ENGINE/$name" && runc spec)
  # Not as jq's own arguments: it would take those with a dash for options.
  for word; do
    printf '%s' "$word" | jq --raw-input --slurp .
  done >"$ENGINE/$name/args"
  jq --arg root "$ENGINE/rootfs" --arg cgroup "$ENGINE_CGROUP/$name" \
    --slurpfile args "$ENGINE/$name/args" '
    .process.args = $args | .process.terminal = false |
    del(.process.rlimits) | .root.path = $root |
    .linux.cgroupsPath = $cgroup | '"$filter" \
    <"$ENGINE/$name/config.json" >"$ENGINE/$name/new"
  mv "$ENGINE/$name/new" "$ENGINE/$name/config.json"
}

run_bundle() {
  (
    engine_join_cgroup
    exec timeout 120 runc --root "$RUNC_ROOT" run --bundle "$ENGINE/$1" "$1"
  )
}

# --- A terminal --------------------------------------------------------------

# terminal_start COMMAND...: run it on a terminal of its own, 33 by 99. What is
# written to descriptor 7 is typed; what it shows is in $ENGINE/screen.
terminal_start() {
  rm -f "$ENGINE/keys"
  mkfifo "$ENGINE/keys"
  : >"$ENGINE/screen"
  printf -v TERMINAL_COMMAND '%q ' "$@"
  (
    engine_join_cgroup
    exec script --quiet --return --flush --command \
      "stty rows 33 cols 99; tty >'$ENGINE/tty'; exec $TERMINAL_COMMAND" \
      "$ENGINE/screen"
  ) <"$ENGINE/keys" >/dev/null 2>&1 3>&- &
  TERMINAL_PID=$!
  exec 7>"$ENGINE/keys"
}

# With printf's escapes.
type_keys() { printf %b "$1" >&7; }

# screen_shows PATTERN: a whole line that matches was shown.
screen_shows() { screen_shows_times 1 "$1"; }

# screen_shows_times COUNT PATTERN: as often as that, or more.
screen_shows_times() { (($(screen | grep -cx -- "$2") >= $1)); }

screen_shows_part() { screen | grep -q -- "$1"; }
screen() { tr -d '\r' <"$ENGINE/screen"; }

# Wait for the end of the program on the terminal. Sets status.
terminal_end() {
  wait_until engine_ended "$TERMINAL_PID"
  status=0
  wait "$TERMINAL_PID" || status=$?
  exec 7>&-
  TERMINAL_PID=
}

# Hang up: the master end is closed with script's own end.
terminal_hang_up() {
  kill -KILL "$TERMINAL_PID" 2>/dev/null || :
  wait "$TERMINAL_PID" 2>/dev/null || :
  exec 7>&-
  TERMINAL_PID=
}

# --- The end -----------------------------------------------------------------

# A zombie has no command line: it is over.
engine_alive() { [[ -n $(tr -d '\0' 2>/dev/null <"/proc/$1/cmdline") ]]; }
engine_ended() { ! engine_alive "$1"; }

engine_end_pid() {
  kill -TERM "$1" 2>/dev/null || return 0
  wait_until engine_ended "$1" || kill -KILL "$1"
}

# No container may outlive its test.
engine_clean() {
  local left name
  [[ -n ${ENGINE-} ]] || return 0
  # For whoever reads of a failure.
  if [[ -n ${BATS_TEST_NAME-} && -z ${BATS_TEST_COMPLETED-} ]]; then
    printf 'status: %s, output:\n%s\n' "${status-}" "${output-}"
    [[ ! -e $ENGINE/screen ]] || tail -n 20 "$ENGINE/screen"
  fi
  case $ENGINE_KIND in
    docker)
      left=$(docker ps --all --format '{{.ID}} {{.Names}} {{.Command}}')
      for name in $(docker ps --all --quiet); do
        docker rm --force "$name" >/dev/null
      done
      ;;
    podman)
      left=$(podman ps --all --format '{{.ID}} {{.Names}}'; podman pod ps -q)
      podman pod rm --all --force >/dev/null
      podman rm --all --force --time 0 >/dev/null
      ;;
    runc)
      left=$(runc --root "$RUNC_ROOT" list -q)
      for name in $left; do runc --root "$RUNC_ROOT" delete --force "$name"; done
      ;;
  esac
  if [[ -n $left ]]; then
    printf 'left behind: %s\n' "$left" >&2
    return 1
  fi
}

engine_stop() {
  local leaked=0 pid where
  [[ -n ${ENGINE-} ]] || return 0
  engine_clean || leaked=1
  if [[ -n ${DOCKERD_PID-} ]]; then engine_end_pid "$DOCKERD_PID"; fi
  # Shims and monitors end by themselves, a moment later.
  if ! wait_until engine_is_empty; then
    leaked=1
    for pid in $(engine_pids); do
      printf 'still running: %s %s\n' "$pid" \
        "$(tr '\0' ' ' <"/proc/$pid/cmdline")" >&2
      kill -KILL "$pid" 2>/dev/null || :
    done
    wait_until engine_is_empty || :
  fi
  for where in $(engine_cgroup_dirs); do
    find "$where" -depth -type d -exec rmdir {} +
  done
  # Deepest first.
  awk -v top="$ENGINE/" 'index($5, top) == 1 { print $5 }' \
    /proc/self/mountinfo | sort -r | while IFS= read -r where; do
    umount "$where" || umount --lazy "$where"
  done
  rm -rf --one-file-system "$ENGINE"
  return "$leaked"
}

engine_is_empty() { [[ -z $(engine_pids) ]]; }

# --- A Debian ----------------------------------------------------------------

# debian_base: debian:bookworm-slim for the engine, made with debootstrap from
# the mirror that this machine's own apt uses, and with its apt's settings. Kept
# in $BUILD, since it takes most of a minute.
debian_base() {
  local tar=$BUILD/debian-bookworm.tar root=$ENGINE/debian mirror
  if [[ ! -e $tar ]]; then
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' |
      sed -n 's/^bookworm //p' | head -n 1)
    [[ -n $mirror ]] || skip "apt has no Debian bookworm among its sources"
    debootstrap --variant=minbase bookworm "$root" "$mirror" \
      >"$ENGINE/debootstrap.log" 2>&1 || {
      tail -n 5 "$ENGINE/debootstrap.log" >&2
      return 1
    }
    rm -rf "$root"/var/cache/apt/archives/*.deb
    # Where packages come from, by what keys and ways.
    rm "$root/etc/apt/sources.list"
    cp -a /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/" ||
      cp -a /etc/apt/sources.list "$root/etc/apt/"
    apt-config dump | grep -E '^Acquire::(https?|Check-|Retries)' \
      >"$root/etc/apt/apt.conf.d/99machine" || :
    # What is installed is not started.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    mkdir -p "$BUILD"
    tar -C "$root" -cf "$tar.$$" .
    mv "$tar.$$" "$tar"
    rm -rf "$root"
  fi
  docker import "$tar" debian:bookworm-slim
}

# docker_build CONTEXT OPTION...: with the machine's network, for apt-get.
docker_build() {
  local variable options=()
  for variable in http_proxy https_proxy no_proxy; do
    [[ -z ${!variable-} ]] || options+=(--build-arg "$variable")
  done
  timeout 1800 docker build --network host "${options[@]}" "${@:2}" "$1"
}
