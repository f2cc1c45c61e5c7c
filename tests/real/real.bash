# Real programs in real images, run in three ways by the Docker Engine:
#
# entrypoint   foster is the image's ENTRYPOINT
# init         foster is the engine's own init
# subreaper    foster -s, in the machine's PID namespace: not PID 1

load ../runtimes/engine

WAYS=(entrypoint init subreaper)

# image PACKAGE...: real:1, with these packages of Debian and with foster.
image() {
  mkdir -p "$ENGINE/context"
  cp "$ENGINE/foster" "$ENGINE/context/foster"
  cat >"$ENGINE/context/Dockerfile" <<END
FROM debian:bookworm-slim
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive \
  apt-get -q -y --no-install-recommends install curl $*
COPY foster /foster
END
  docker_build "$ENGINE/context" -t real:1 >"$ENGINE/build.log" 2>&1 || {
    tail -n 5 "$ENGINE/build.log" >&2
    return 1
  }
}

# real_run WAY NAME 'FOSTER OPTIONS' [DOCKER OPTION...] -- COMMAND...: in the
# background.
real_run() {
  local way=$1 name=$2 foster_options=$3 options=(-d --network none) command=()
  shift 3
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  case $way in
  entrypoint) options+=(--entrypoint /foster) command=(--) ;;
  init) options+=(--init) ;;
  subreaper)
    options+=(--pid=host --entrypoint /foster) command=(--)
    foster_options+=' -s'
    ;;
  esac
  docker run "${options[@]}" --name "$name" \
    -e FOSTER_OPTIONS="$foster_options" real:1 "${command[@]}" "$@"
}

# Inside, from outside: the machine can look at any of them.
real_status() { "$ENGINE/foster" --status="$(docker_pid "$1")"; }

# has_no_zombies NAME: neither init's nor its program's.
has_no_zombies() {
  local pid
  for pid in $(docker top "$1" -o pid | tail -n +2); do
    if in_state "$pid" Z; then
      not_yet
      return
    fi
  done
}

# ends NAME CODE: docker stop is obeyed in time, with that exit code, and
# nothing is left of it.
ends() {
  wait_until has_no_zombies "$1"
  docker stop --time 90 "$1"
  is "$(docker_exit_code "$1")" "$2"
  docker_left_nothing
}

docker_left_nothing() {
  local left
  left=$(find /sys/fs/cgroup/{,pids/}"${ENGINE_CGROUP#/}/containers" \
    -name cgroup.procs -exec cat {} + 2>/dev/null | tr '\n' ' ')
  is "$left" ''
}
