"""MacSim: what it takes, what it prints, and what its tracer lists."""
