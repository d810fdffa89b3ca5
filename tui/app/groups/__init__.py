"""View 1: the kernel groups."""
