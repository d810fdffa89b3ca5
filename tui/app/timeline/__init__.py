"""View 6: a kernel group's launches over the run."""
