"""Projection: where the simulation of a kernel may stop, and what the whole then takes."""
