#!/usr/bin/env bats
# Servers that people run: each serves, stops in its own time and with the right
# exit code, and loses nothing.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  engine_start docker
  debian_base
  image nginx-light redis-server postgresql gunicorn
}
teardown_file() { engine_stop; }

# answers NAME URL: with success.
answers() { docker exec "$1" curl --silent --fail "$2" || not_yet; }

@test "nginx: -r TERM:QUIT lets a request finish" {
  local way
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
    real_run "$way" web '-r TERM:QUIT' -v "$PWD/nginx.conf:/nginx.conf" -- \
      sh -c 'head -c 300000 /dev/zero >/tmp/slow; exec nginx -c /nginx.conf'
    wait_until answers web http://127.0.0.1:8080/quick
    docker exec -d web curl -s -o /tmp/got http://127.0.0.1:8080/slow
    wait_until docker exec web test -s /tmp/got
    ends web 0
    docker_said web '^/slow 200 300000$'
    docker_said web 'gracefully shutting down'
    docker rm web
  done
}

@test "redis: saves on TERM, and has it all when started again" {
  local way
  for way in "${WAYS[@]}"; do
    docker volume create data
    real_run "$way" store '' -v data:/data -- \
      redis-server --dir /data --save 3600 1
    wait_until redis_is store PONG ping
    redis_is store OK set greeting "hello from $way"
    ends store 0
    docker_said store 'DB saved on disk'
    docker rm store
    real_run "$way" store '' -v data:/data -- redis-server --dir /data
    wait_until redis_is store "hello from $way" get greeting
    ends store 0
    docker rm store
    docker volume rm data
  done
}

redis_is() {
  [[ $(docker exec "$1" redis-cli "${@:3}" 2>&1) == "$2" ]] || not_yet
}

@test "postgresql: -r TERM:INT is a fast shutdown, and the data is intact" {
  local way
  for way in "${WAYS[@]}"; do
    docker volume create data
    docker run --rm --network none -v data:/data real:1 sh -c \
      'chown postgres /data && chmod 700 /data &&
        su postgres -c "/usr/lib/postgresql/*/bin/initdb -D /data"'
    postgres_run "$way" '-r TERM:INT'
    sql 'create table t as select generate_series(1, 1000) as n' >/dev/null
    # Somebody stays connected, and a transaction is open.
    docker exec -d db psql -h /tmp -U postgres \
      -c 'begin; insert into t values (0); select pg_sleep(600)'
    wait_until sleeper_is_there
    ends db 0
    docker_said db 'received fast shutdown request'
    docker_said db 'database system is shut down'
    docker rm db

    postgres_run "$way" '-r TERM:INT'
    is "$(sql 'select count(*), sum(n) from t')" '1000|500500'
    docker_said db 'database system was shut down at'
    ends db 0
    docker rm db
    docker volume rm data
  done
}

postgres_run() {
  real_run "$1" db "$2" -v data:/data --user postgres -- \
    sh -c 'exec /usr/lib/postgresql/*/bin/postgres -D /data -k /tmp'
  wait_until sql_works
}
sql() { docker exec db psql -h /tmp -U postgres -At -c "$1"; }
sql_works() { sql 'select 1' >/dev/null 2>&1 || not_yet; }
sleeper_is_there() {
  [[ $(sql "select count(*) from pg_stat_activity
    where query like '%pg_sleep%' and pid <> pg_backend_pid()") == 1 ]] || not_yet
}

@test "gunicorn: serves from its workers, and stops with 0" {
  local way
  cat >app.py <<'END'
import os


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"served, child of %d\n" % os.getppid()]
END
  for way in "${WAYS[@]}"; do
    real_run "$way" unicorn '' -v "$PWD/app.py:/app.py" -w / -- \
      gunicorn --workers 2 --bind 127.0.0.1:8000 app:app
    wait_until answers unicorn http://127.0.0.1:8000/
    ends unicorn 0
    docker_said unicorn 'Shutting down: Master'
    docker rm unicorn
  done
}
