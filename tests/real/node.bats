#!/usr/bin/env bats
# Node with a child process, behind a shell.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  engine_start docker
  image nodejs
}
teardown_file() { engine_stop; }

@test "node: a server with a child, behind a shell that is deaf to signals" {
  local way
  node_server
  for way in "${WAYS[@]}"; do
    node_stops "$way" 6 sh -c 'trap : TERM; node /app/server.js; exit $?'
  done
}

node_server() {
  mkdir app
  echo '{ "name": "app", "scripts": { "start": "node server.js" } }' \
    >app/package.json
  cat >app/server.js <<'END'
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
    child.on('exit', (code) => {
      console.log('stopped');
      process.exit(code === 0 ? 6 : 1);
    });
  });
}
END
}

# node_stops WAY CODE COMMAND...
node_stops() {
  real_run "$1" '' -v "$PWD/app:/app" -- "${@:3}"
  wait_until node_answers
  stops "$2"
  real_said '^stopping$'
  real_said '^stopped$'
}
node_answers() {
  [[ $(real_exec curl --silent http://127.0.0.1:8000/) == 42 ]] || not_yet
}
