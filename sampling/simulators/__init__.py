"""Simulators and tools: what they are handed, and what they leave behind."""
