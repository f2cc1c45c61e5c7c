load soak

@test "soak: inits that end in a storm leave nothing: as a subreaper" { soak_as_subreaper many_runs; }
