#!/usr/bin/env bats
# Servers that people run: each serves, stops in its own time and with the right
# exit code, and loses nothing.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  engine_start docker
  image redis-server postgresql gunicorn
}
teardown_file() { engine_stop; }

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

@test "postgresql: -r TERM:INT is a fast shutdown, and the data is intact" {
  local way client
  for way in "${WAYS[@]}"; do
    mkdir "data-$way"
    docker run --rm --network none -v "$PWD/data-$way:/data" real:1 sh -c \
      'chown postgres /data && chmod 700 /data &&
        su postgres -c "/usr/lib/postgresql/*/bin/initdb -D /data"'
    postgres_run "$way"
    sql 'create table t as select generate_series(1, 1000) as n' >/dev/null
    # Somebody stays connected, and a transaction is open.
    real_exec psql -h /tmp -U postgres -q -c \
      'begin; insert into t values (0); select pg_sleep(600)' \
      >/dev/null 2>&1 3>&- &
    client=$!
    wait_until sleeper_is_there
    stops 0
    wait "$client" || :
    real_said 'received fast shutdown request'
    real_said 'database system is shut down'

    postgres_run "$way"
    is "$(sql 'select count(*), sum(n) from t')" '1000|500500'
    real_said 'database system was shut down at'
    stops 0
  done
}

postgres_run() {
  real_run "$1" '-r TERM:INT' -v "$PWD/data-$1:/data" --user postgres -- \
    sh -c 'exec /usr/lib/postgresql/*/bin/postgres -D /data -k /tmp'
  wait_until sql_works
}
sql() { real_exec psql -h /tmp -U postgres -At -c "$1"; }
sql_works() { sql 'select 1' >/dev/null 2>&1 || not_yet; }
sleeper_is_there() {
  [[ $(sql "select count(*) from pg_stat_activity
    where query like '%pg_sleep%' and pid <> pg_backend_pid()") == 1 ]] || not_yet
}

@test "gunicorn: its workers finish what they serve, and it stops with 0" {
  local way client
  cat >app.py <<'END'
import time


def app(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        open("/tmp/slow", "w").close()
        time.sleep(2)
        print("slow is served", flush=True)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"served"]
END
  for way in "${WAYS[@]}"; do
    real_run "$way" '' -v "$PWD/app.py:/app.py" -- \
      gunicorn --chdir / --workers 2 --bind 127.0.0.1:8000 \
      --access-logfile - app:app
    wait_until real_answers http://127.0.0.1:8000/
    real_exec curl --silent http://127.0.0.1:8000/slow 3>&- &
    client=$!
    wait_until real_exec test -e /tmp/slow
    stops 0
    wait "$client" || :
    real_said '^slow is served$'
    real_said '"GET /slow HTTP/1.1" 200 6 '
    real_said 'Shutting down: Master'
  done
}
