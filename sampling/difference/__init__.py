"""Two recordings of a program: what is the same work in both, and what changed in it."""
