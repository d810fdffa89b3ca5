"""A plan handed over: what is run in which order and where, its manifest, its scripts."""
