"""Accel-Sim and GPGPU-Sim: what they print and log, and what their tracer writes."""
