#!/usr/bin/env bats
# Headless Chromium: a browser, its zygotes and renderers, and the orphans that
# they become.

bats_require_minimum_version 1.5.0
load real

setup_file() {
  real_start chromium
  mkdir "$ENGINE/page"
  echo '<h1>Served</h1><script>document.title = 6 * 7</script>' \
    >"$ENGINE/page/index.html"
}
teardown_file() { real_stop; }

# As root, and in a container whose /dev/shm is small.
CHROMIUM=(chromium --headless --no-sandbox --disable-gpu
  --disable-dev-shm-usage --user-data-dir=/tmp/profile)

@test "chromium: takes a screenshot of a local page, and ends" {
  local way
  for way in "${WAYS[@]}"; do
    mkdir "out-$way"
    real_run "$way" '' -v "$ENGINE/page:/page" -v "$PWD/out-$way:/out" -- \
      "${CHROMIUM[@]}" --screenshot=/out/page.png file:///page/index.html
    ends 0
    is "$(head -c 4 "out-$way/page.png" | tail -c 3)" PNG
  done
}

@test "chromium: what a killed browser leaves behind is no zombie" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" '' -v "$ENGINE/page:/page" -- bash -c "
      for n in 1 2 3; do
        ${CHROMIUM[*]} --user-data-dir=/tmp/\$n --remote-debugging-port=0 \
          file:///page/index.html 2>/tmp/log &
        until grep -q 'DevTools listening' /tmp/log; do sleep 0.1; done
        kill -KILL \$!
        wait \$!
        rm /tmp/log
      done
      echo READY
      sleep infinity & wait"
    wait_until real_said '^READY$'
    wait_until real_status_is '.orphans_reaped >= 6 and .zombies.count == 0'
    stops 143
  done
}

@test "chromium: as a service it answers, and a SIGTERM ends all of it" {
  local way
  for way in "${WAYS[@]}"; do
    real_run "$way" '' -v "$ENGINE/page:/page" -- \
      "${CHROMIUM[@]}" --remote-debugging-port=9222 file:///page/index.html
    wait_until title_is 42
    stops 0
  done
}

title_is() {
  [[ $(real_exec curl --silent http://127.0.0.1:9222/json/list |
    jq -r '.[] | select(.type == "page").title') == "$1" ]] || not_yet
}
