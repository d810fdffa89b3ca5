"""Simulators and tools: what a plan is exported to them as, and how what they write is read."""
