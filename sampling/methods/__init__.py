"""Sampling methods: one module or folder a method, listed in `registry`."""
