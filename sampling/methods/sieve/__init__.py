"""Sieve: strata of instruction counts within a kernel."""
