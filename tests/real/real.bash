# Real programs from Debian's packages, in the three ways to run foster:
#
# entrypoint   foster is the image's ENTRYPOINT
# init         foster is the engine's own init, by docker run --init
# host         foster -s on the machine itself, in no container: its program
#              changes its root to the image's files, no more
#
# One runs at a time, and is given up to `stops` or `ends` before the next.

load ../runtimes/engine

WAYS=(entrypoint init host)

# real_start PACKAGE...: for setup_file. Images are unpacked and thrown away
# again: in memory where there is plenty, since that saves minutes.
real_start() {
  local available
  available=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
  if ((EUID == 0 && available > 8 << 20)); then
    MEMORY=$(mktemp -d "${TMPDIR:-/tmp}/foster-memory.XXXXXX")
    export MEMORY
    mount -t tmpfs -o mode=755 foster "$MEMORY"
  fi
  TMPDIR=${MEMORY:-${TMPDIR:-/tmp}} engine_start docker
  image "$@"
}

# For teardown_file.
real_stop() {
  local leaked=0
  engine_stop || leaked=1
  if [[ -n ${MEMORY-} ]]; then
    umount "$MEMORY" || umount --lazy "$MEMORY"
    rmdir "$MEMORY"
  fi
  return "$leaked"
}

teardown() {
  # For whoever reads of a failure.
  if [[ -z ${BATS_TEST_COMPLETED-} && -n ${WAY-} ]]; then
    printf 'run as %s, which said:\n' "$WAY"
    real_log | tail -n 20
  fi
  host_kill
  engine_clean
}

# image PACKAGE...: real:1, with these packages of Debian and with foster; and
# its files in $ENGINE/tree. The packages are kept in $BUILD, as debian_base is.
image() {
  local context=$ENGINE/context tar
  mkdir -p "$context" "$ENGINE/tree"
  cat >"$context/Dockerfile" <<END
FROM debian:bookworm-slim
RUN echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/fast
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive \
  apt-get -q -y --no-install-recommends install curl $* && apt-get clean
END
  tar=$BUILD/debian-$(cksum <"$context/Dockerfile" | cut -d ' ' -f 1).tar
  if [[ ! -e $tar ]]; then
    debian_base
    docker_build "$context" -t packages:1 >"$ENGINE/build.log" 2>&1 || {
      tail -n 5 "$ENGINE/build.log" >&2
      return 1
    }
    patient docker save packages:1 >"$tar.$$"
    mv "$tar.$$" "$tar"
  else
    patient docker load --quiet <"$tar"
  fi
  cp "$ENGINE/foster" "$context/foster"
  printf 'FROM packages:1\nCOPY foster /foster\n' >"$context/Dockerfile"
  docker_build "$context" --quiet -t real:1
  patient docker create --name tree real:1 true
  patient docker export tree | tar -C "$ENGINE/tree" -x
  # Which the engine fills in for its containers.
  echo '127.0.0.1 localhost' >"$ENGINE/tree/etc/hosts"
  patient docker rm tree
}

# A whole gigabyte takes its time, on a busy machine.
patient() { timeout --kill-after=5 1800 "$@"; }

# real_run WAY 'FOSTER OPTIONS' [-v FROM:TO]... [--user NAME] -- COMMAND...: in
# the background. What it leaves and how it ends is in the file report.
real_run() {
  WAY=$1 OPTIONS=$2
  local options=()
  shift 2
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  rm -f log
  # Enough for a busy machine: nobody is told twice, or killed.
  OPTIONS="-k 30 $OPTIONS"
  : >report
  chmod 666 report
  case $WAY in
  entrypoint) options+=(--entrypoint /foster real:1 --) ;;
  init) options+=(--init real:1) ;;
  host)
    host_run "${options[@]}" -- "$@"
    return
    ;;
  esac
  docker run -d --network none --name real -v "$PWD/report:/report" \
    -e FOSTER_OPTIONS="--report=/report $OPTIONS" "${options[@]}" "$@"
}

# real_exec COMMAND...: beside it, in the same place.
real_exec() {
  case $WAY in
  # Not --wd=/, which is the machine's.
  host) nsenter --target "$(entrypoint)" --mount --net --root --wd "$@" ;;
  *) docker exec real "$@" ;;
  esac
}

# real_answers URL: with success.
real_answers() { real_exec curl --silent --fail "$1" || not_yet; }

# real_status: as JSON.
real_status() {
  case $WAY in
  host) "$ENGINE/foster" --status="$INIT" ;;
  *) docker exec real /foster --status ;;
  esac
}
real_status_is() { real_status | json_is "$1" || not_yet; }

real_log() {
  if [[ $WAY == host || -e log ]]; then
    cat log
  else
    docker logs real 2>&1
  fi
}

# real_said PATTERN: it has written a line that matches.
real_said() { real_log | grep -q -- "$1" || not_yet; }

# Every process below init. Docker's own list has no zombies in it.
real_descendants() {
  local pid list todo
  todo=("$INIT")
  while ((${#todo[@]})); do
    pid=${todo[0]}
    todo=("${todo[@]:1}")
    read_children "$pid"
    todo+=("${list[@]}")
    [[ ${#list[@]} -eq 0 ]] || printf '%s\n' "${list[@]}"
  done
}

# Neither init's nor its program's.
real_has_no_zombies() {
  local pid
  [[ $WAY == host ]] || INIT=$(docker_pid real)
  for pid in $(real_descendants); do
    if in_state "$pid" Z; then
      not_yet
      return
    fi
  done
}

# stops CODE: it has no zombies, a SIGTERM ends it in good time, and it ends as
# it should.
stops() {
  local begin
  wait_until real_has_no_zombies
  begin=$(clock)
  case $WAY in
  host) kill -TERM "$INIT" ;;
  *) docker stop -t 90 real ;;
  esac
  ends "$1" "$begin"
}

# ends CODE [SINCE]: by itself, with that exit code. Nobody had to be killed,
# nothing is left, and foster had nothing to complain of.
ends() {
  local code begin=${2-$(clock)} took left
  case $WAY in
  host)
    code=0
    wait_until gone "$JOB"
    wait "$JOB" || code=$?
    took=$((($(clock) - begin) / 1000))
    ;;
  *)
    code=$(docker wait real)
    took=$((($(clock) - begin) / 1000))
    docker logs real >log 2>&1
    docker rm real
    ;;
  esac
  is "$code" "$1"
  # Docker's own patience is 10 s, but this machine may be busy.
  [[ -z ${2-} ]] || ((took < 30000))
  [[ " $OPTIONS " == *" -v "* ]] || is "$(grep '^foster:' log)" ''
  left=$(real_processes | tr '\n' ' ')
  is "$left" ''
  json_is ".exit_code == $1 and .killed_after_grace == 0 and
    .oom_kill == false" <report
  printf '# %s: %s: exit %d in %d.%03d s, %d reaped, %d left behind\n' \
    "${BATS_TEST_DESCRIPTION%%:*}" "$WAY" "$code" $((took / 1000)) \
    $((took % 1000)) "$(jq .orphans_reaped report)" \
    "$(jq .left_behind report)" >&3
}

# All of the container, or of what runs on the host.
real_processes() {
  find /sys/fs/cgroup/{,pids/}"${ENGINE_CGROUP#/}/containers" \
    -name cgroup.procs -exec cat {} + 2>/dev/null
}

# ---- In no container.

# The program's own view: the machine's processes and devices, the image's files
# with a layer of memory above them, and a loopback of its own, since the
# machine's ports may be taken.
HOST_ENTER='
  set -e
  tree=$1 layer=$2 busybox=$3
  shift 3
  "$busybox" ip link set lo up
  mount -t tmpfs none "$layer"
  mkdir "$layer/upper" "$layer/work" "$layer/root"
  mount -t overlay none "$layer/root" \
    -o "lowerdir=$tree,upperdir=$layer/upper,workdir=$layer/work"
  mount --rbind /proc "$layer/root/proc"
  mount --rbind /dev "$layer/root/dev"
  while [ "$1" != -- ]; do
    mount --bind "${1%%:*}" "$layer/root/${1#*:}"
    shift
  done
  shift
  exec chroot "$@"'

host_run() {
  local volumes=() user=root from to busybox
  while [[ $1 != -- ]]; do
    case $1 in
    -v)
      volumes+=("$2")
      # What is bound needs something to be bound on.
      from=${2%%:*} to=$ENGINE/tree${2#*:}
      if [[ -d $from ]]; then mkdir -p "$to"; else : >>"$to"; fi
      ;;
    --user) user=$2 ;;
    *)
      printf 'host_run: what is %s?\n' "$1" >&2
      return 1
      ;;
    esac
    shift 2
  done
  shift
  mkdir -p "$ENGINE/layer"
  busybox=$(command -v busybox)
  (
    host_join_cgroup
    cd /
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      FOSTER_OPTIONS="$OPTIONS --report=$BATS_TEST_TMPDIR/report" \
      "$ENGINE/foster" -s -- unshare --mount --net \
      sh -c "$HOST_ENTER" sh "$ENGINE/tree" "$ENGINE/layer" "$busybox" \
      "${volumes[@]}" -- --userspec="$user" "$ENGINE/layer/root" "$@"
  ) >log 2>&1 </dev/null 3>&- &
  JOB=$!
  INIT=$JOB
  wait_until host_entered
}

host_join_cgroup() {
  local where=/sys/fs/cgroup
  [[ -e $where/cgroup.procs ]] || where=$where/pids
  where+=$ENGINE_CGROUP/containers/host
  mkdir -p "$where"
  printf '%s\n' "$BASHPID" >"$where/cgroup.procs"
}

# In its new root, or over already.
host_entered() {
  gone "$JOB" || {
    [[ /proc/$INIT/exe -ef $ENGINE/foster && -n $(entrypoint) ]] &&
      ! [[ /proc/$(entrypoint)/root/. -ef /. ]]
  }
}

host_kill() {
  local pid
  [[ ${WAY-} == host ]] || return 0
  for pid in $(real_processes); do
    kill -KILL "$pid" 2>/dev/null || :
  done
}
