"""Readers: one module or folder a format, listed in `registry`."""
