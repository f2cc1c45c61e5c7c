#!/usr/bin/env bats
# Servers that people run: each serves, stops in its own time and with the right
# exit code, and loses nothing.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  real_start postgresql gunicorn openssh-server openssh-client \
    openjdk-17-jre-headless tomcat10-user
}
teardown_file() { real_stop; }

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

# A JVM that is asked to stop runs its shutdown hooks, and exits with 143.
@test "tomcat: a JVM stops in order with 143, and with 0 by -e 143" {
  local way
  for way in "${WAYS[@]}"; do
    tomcat_run "$way" ''
    stops 143
    tomcat_stopped
  done
  tomcat_run entrypoint '-e 143'
  stops 0
  tomcat_stopped
}

tomcat_run() {
  real_run "$1" "$2" -- sh -c '
    tomcat10-instance-create /srv/tomcat
    mkdir /srv/tomcat/webapps/ROOT
    echo served >/srv/tomcat/webapps/ROOT/index.html
    export CATALINA_BASE=/srv/tomcat
    exec /usr/share/tomcat10/bin/catalina.sh run'
  wait_until real_answers http://127.0.0.1:8080/index.html
}
tomcat_stopped() {
  real_said 'Stopping service \[Catalina\]'
  real_said 'Destroying ProtocolHandler'
}

SSHD='mkdir -p /run/sshd /root/.ssh
  ssh-keygen -q -t ed25519 -N "" -f /root/.ssh/id_ed25519
  cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
  /usr/sbin/sshd'

ssh_runs() {
  real_exec ssh -o StrictHostKeyChecking=no -o LogLevel=ERROR \
    root@127.0.0.1 "$@" 3>&- || not_yet
}

@test "sshd: a daemon behind a shell that waits runs on, and ends with it" {
  local way client
  for way in "${WAYS[@]}"; do
    real_run "$way" '' -- sh -c "$SSHD; exec sleep infinity"
    wait_until ssh_runs true
    is "$(ssh_runs 'echo served')" served
    # Somebody is logged in, and has left something in the background.
    ssh_runs 'setsid sleep 999 >/dev/null 2>&1 & touch /tmp/in; sleep 998' \
      >/dev/null 2>&1 &
    client=$!
    wait_until real_exec test -e /tmp/in
    stops 143
    wait "$client" || :
  done
}

# What is there to be documented: the entrypoint's end is the container's end.
@test "sshd: a bare daemon's container ends when it has daemonised" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" -v -- /bin/sh -c "${SSHD/\/usr/exec \/usr}"
    ends 0
    real_said '^foster: drain: telling process .* (sshd)'
  done
}
