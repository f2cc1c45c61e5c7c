#!/usr/bin/env bats
# Dockerfile.example, built and run as its own first lines say, on a real base.

bats_require_minimum_version 1.5.0
load engine

setup_file() {
  engine_start docker
  debian_base
}
teardown_file() { engine_stop; }

@test "example: Dockerfile.example builds, and is foster and the program alone" {
  local root=$BATS_TEST_DIRNAME/../.. commands
  mapfile -t commands < <(sed -n 's/^#   //p' "$root/Dockerfile.example")
  is "${commands[0]}" "docker build -f Dockerfile.example -t example ."
  is "${commands[1]}" "docker run --rm example"

  # A context as a fresh checkout has it.
  mkdir context
  tar -C "$root" --exclude=./build --exclude=./.git -c . | tar -C context -x
  cd context
  docker_build . -f Dockerfile.example -t example

  run docker run --rm --network none example
  [ "$status" -eq 0 ]
  matches "$output" '^hello from pid [0-9]+, fostered by pid 1$'
  run docker run --rm --network none --read-only --cap-drop ALL --user 1234 \
    --security-opt no-new-privileges example
  [ "$status" -eq 0 ]
  matches "$output" '^hello from pid [0-9]+, fostered by pid 1$'

  docker create --name content example
  run bash -c 'docker export content | tar -t | grep -v "/$"'
  # The rest is what the engine itself puts into every container.
  is "$(grep -vE '^(\.dockerenv|etc/|dev/)' <<<"$output")" $'foster\nprogram'
  docker rm content
}
