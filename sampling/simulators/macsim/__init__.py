"""MacSim: its results."""
