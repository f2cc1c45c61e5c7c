#!/usr/bin/env bats
# nginx, a master with workers. In a file of its own, for CI.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  engine_start docker
  image nginx-light
}
teardown_file() { engine_stop; }

@test "nginx: -r TERM:QUIT lets a request finish" {
  local way client
  cat >nginx.conf <<'END'
daemon off;
user root;
error_log /dev/stderr notice;
pid /tmp/nginx.pid;
worker_processes 2;
events {}
http {
  log_format size '$uri $status $body_bytes_sent';
  access_log /dev/stdout size;
  server {
    listen 127.0.0.1:8080;
    location /quick { return 200 "here\n"; }
    location /slow { root /tmp; limit_rate 100k; }
  }
}
END
  for way in "${WAYS[@]}"; do
    real_run "$way" '-r TERM:QUIT' -v "$PWD/nginx.conf:/nginx.conf" -- \
      sh -c 'head -c 300000 /dev/zero >/tmp/slow; exec nginx -c /nginx.conf'
    wait_until real_answers http://127.0.0.1:8080/quick
    real_exec curl -s -o /tmp/got http://127.0.0.1:8080/slow 3>&- &
    client=$!
    wait_until real_exec test -s /tmp/got
    stops 0
    wait "$client" || :
    real_said '^/slow 200 300000$'
    real_said 'gracefully shutting down'
  done
}
