load soak

@test "soak: inits that end in a storm leave nothing: as PID 1" { soak_as_pid1 many_runs; }
