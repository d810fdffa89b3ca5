"""Single iteration: one iteration of a loop, times the number of iterations."""
