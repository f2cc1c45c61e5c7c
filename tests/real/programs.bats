#!/usr/bin/env bats
# Programs with children: worker pools, background jobs, a deaf shell in front,
# a daemon.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  engine_start docker
  debian_base
  image python3-minimal libpython3-stdlib nodejs cron
}
teardown_file() { engine_stop; }

@test "python: a multiprocessing pool ends with its program" {
  local way
  cat >pool.py <<'END'
import multiprocessing
import os
import signal


def work(n):
    return n * n, os.getpid()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    with multiprocessing.Pool(3) as pool:
        results = pool.map(work, range(100))
        print("sum", sum(square for square, _ in results), flush=True)
        signal.pause()
END
  for way in "${WAYS[@]}"; do
    real_run "$way" pool '' -v "$PWD/pool.py:/pool.py" -- python3 /pool.py
    wait_until docker_said pool '^sum 328350$'
    ends pool 143
    docker rm pool
  done
}

@test "bash: background jobs end with their script, or before" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" jobs '' -- bash -c '
      trap "echo stopped; exit 4" TERM
      sleep 999 & sleep 998 & setsid sleep 997 &
      (sleep 0.1 &) ; (sleep 0.1 &)
      echo READY; wait'
    wait_until docker_said jobs READY
    ends jobs 4
    docker_said jobs stopped
    docker rm jobs

    # One that doesn't wait for them.
    real_run "$way" jobs '' -- bash -c 'sleep 999 & setsid sleep 998 & exit 5'
    is "$(docker wait jobs)" 5
    docker_left_nothing
    is "$(docker logs jobs 2>&1)" ''
    docker rm jobs
  done
}

@test "node: a server with a child, behind a shell that is deaf to signals" {
  local way
  cat >server.js <<'END'
const { fork } = require('child_process');
const http = require('http');
if (process.argv[2] === 'child') {
  process.on('message', (n) => process.send(n * 2));
  process.on('SIGTERM', () => process.exit(0));
} else {
  const child = fork(__filename, ['child']);
  const server = http.createServer((request, response) => {
    child.once('message', (n) => response.end(`${n}\n`));
    child.send(21);
  });
  server.listen(8000, '127.0.0.1');
  process.on('SIGTERM', () => {
    console.log('stopping');
    server.close(() => child.disconnect());
    child.on('exit', (code) => process.exit(code === 0 ? 6 : 1));
  });
}
END
  for way in "${WAYS[@]}"; do
    real_run "$way" node '' -v "$PWD/server.js:/server.js" -- \
      sh -c 'trap "" HUP; trap : TERM; node /server.js; exit $?'
    wait_until node_answers
    ends node 6
    docker_said node '^stopping$'
    docker rm node
  done
}

node_answers() {
  [[ $(docker exec node curl --silent http://127.0.0.1:8000/) == 42 ]] || not_yet
}

@test "cron: in the foreground its jobs run, and none becomes a zombie" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" cron '' -- sh -c '
      echo "@reboot root echo ran >/tmp/ran" >/etc/cron.d/job; exec cron -f'
    wait_until docker exec cron test -s /tmp/ran
    ends cron 143
    docker rm cron
  done
}

@test "cron: a daemon behind a shell that waits runs on, and ends with it" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" cron '' -- sh -c '
      echo "@reboot root echo ran >/tmp/ran" >/etc/cron.d/job
      cron; exec sleep infinity'
    wait_until docker exec cron test -s /tmp/ran
    ends cron 143
    docker rm cron
  done
}

# What is there to be documented: the entrypoint's end is the container's end.
@test "cron: a bare daemon's container ends when it has daemonised" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" cron '-v' -- cron
    is "$(docker wait cron)" 0
    docker_left_nothing
    docker_said cron '^foster: drain: telling process .* (cron)'
    docker rm cron
  done
}
