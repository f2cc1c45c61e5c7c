#!/usr/bin/env bats
# A Node server with a child process, behind what is put in front of it. In a
# file of its own because of the hundreds of packages that npm is made of.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  real_start nodejs npm
}
teardown_file() { real_stop; }

@test "node: behind a shell that waits, its own exit code comes through" {
  local way trap
  node_app
  for way in "${WAYS[@]}"; do
    # What is ignored is ignored in Node as well, until it says otherwise.
    for trap in : ''; do
      node_run "$way" '' sh -c "trap '$trap' TERM; node /app/server.js; exit \$?"
      stops 6
      node_has_stopped
    done
  done
}

# Which as PID 1 would be deaf: docker stop would take its 10 s, and kill.
@test "node: behind a shell that SIGTERM ends it stops in order all the same" {
  local way
  node_app
  for way in "${WAYS[@]}"; do
    node_run "$way" '' sh -c 'node /app/server.js; exit $?'
    stops 143
    node_has_stopped
    json_is '.left_behind > 0' <report
  done
}

# npm runs the script by a shell, which SIGTERM ends, and dies of SIGTERM as
# that did: long before the server has stopped.
@test "node: npm ends before its server, which stops in order all the same" {
  local way
  node_app
  for way in "${WAYS[@]}"; do
    node_run "$way" '' npm --prefix /app start
    stops 143
    node_has_stopped
    json_is '.left_behind > 0' <report
  done
}

# npm passes SIGTERM on to what the shell has become, so -c, or it comes twice.
@test "node: npm's script with exec, and -c: its own exit code comes through" {
  local way
  node_app
  for way in "${WAYS[@]}"; do
    node_run "$way" -c npm --prefix /app run exec
    stops 6
    node_has_stopped
    json_is '.left_behind == 0' <report
  done
}

# Both of the server's processes take a while to stop.
node_app() {
  mkdir app
  cat >app/package.json <<'END'
{
  "name": "app",
  "scripts": { "start": "node server.js", "exec": "exec node server.js" }
}
END
  cat >app/server.js <<'END'
const { fork } = require('child_process');
const http = require('http');
if (process.argv[2] === 'child') {
  process.on('message', (n) => process.send(n * 2));
  process.on('SIGTERM', () => setTimeout(() => process.exit(0), 1000));
} else {
  const child = fork(__filename, ['child']);
  const server = http.createServer((request, response) => {
    child.once('message', (n) => response.end(`${n}\n`));
    child.send(21);
  });
  server.listen(8000, '127.0.0.1');
  process.on('SIGTERM', () => {
    console.log('stopping');
    server.close(() => setTimeout(() => child.disconnect(), 500));
    child.on('exit', (code) => {
      console.log('stopped');
      process.exit(code === 0 ? 6 : 1);
    });
  });
}
END
}

# node_run WAY OPTIONS COMMAND...
node_run() {
  real_run "$1" "$2" -v "$PWD/app:/app" -- "${@:3}"
  wait_until node_answers
}
node_answers() {
  [[ $(real_exec curl --silent http://127.0.0.1:8000/) == 42 ]] || not_yet
}
node_has_stopped() {
  is "$(real_log | grep '^stop')" $'stopping\nstopped'
}
