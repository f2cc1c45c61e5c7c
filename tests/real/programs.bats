#!/usr/bin/env bats
# Programs with children: a worker pool, background jobs, a daemon.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  real_start python3-minimal libpython3-stdlib cron
}
teardown_file() { real_stop; }

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
    real_run "$way" '' -v "$PWD/pool.py:/pool.py" -- python3 /pool.py
    wait_until real_said '^sum 328350$'
    stops 143
  done
}

@test "bash: background jobs end with their script, or before" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" '' -- bash -c '
      trap "echo stopped; exit 4" TERM
      sleep 999 & sleep 998 & setsid sleep 997 &
      (sleep 0.1 &) ; (sleep 0.1 &)
      echo READY; wait'
    wait_until real_said READY
    stops 4
    real_said stopped

    # One that doesn't wait for them.
    real_run "$way" '' -- bash -c 'sleep 999 & setsid sleep 998 & exit 5'
    ends 5
    is "$(<log)" ''
  done
}

CRON='echo "@reboot root echo ran >/tmp/ran" >/etc/cron.d/job;'

@test "cron: in the foreground its jobs run, and none becomes a zombie" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" '' -- sh -c "$CRON exec cron -f"
    wait_until real_exec test -s /tmp/ran
    stops 143
  done
}

@test "cron: a daemon behind a shell that waits runs on, and ends with it" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" '' -- sh -c "$CRON cron; exec sleep infinity"
    wait_until real_exec test -s /tmp/ran
    stops 143
  done
}

# What is there to be documented: the entrypoint's end is the container's end.
@test "cron: a bare daemon's container ends when it has daemonised" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" -v -- cron
    ends 0
    real_said '^foster: drain: telling process .* (cron)'
  done
}
