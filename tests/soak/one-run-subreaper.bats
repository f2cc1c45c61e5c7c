load soak

@test "soak: one init, the counters, memory and descriptors stay right: as a subreaper" { soak_as_subreaper one_run; }
