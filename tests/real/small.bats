#!/usr/bin/env bats
# nginx, a master with workers, and Redis: small enough for CI.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  real_start nginx-light redis-server
}
teardown_file() { real_stop; }

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

@test "redis: saves on TERM, and has it all when started again" {
  local way
  for way in "${WAYS[@]}"; do
    mkdir "data-$way"
    real_run "$way" '' -v "$PWD/data-$way:/data" -- \
      redis-server --dir /data --save 3600 1
    wait_until redis_is PONG ping
    redis_is OK set greeting "hello from $way"
    stops 0
    real_said 'DB saved on disk'
    real_run "$way" '' -v "$PWD/data-$way:/data" -- redis-server --dir /data
    wait_until redis_is "hello from $way" get greeting
    stops 0
  done
}

redis_is() { [[ $(real_exec redis-cli "${@:2}" 2>&1) == "$1" ]] || not_yet; }
