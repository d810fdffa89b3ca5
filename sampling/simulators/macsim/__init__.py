"""MacSim: what it takes."""
