load soak

@test "soak: one init, the counters, memory and descriptors stay right: as PID 1" { soak_as_pid1 one_run; }
