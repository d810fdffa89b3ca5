"""What Accel-Sim's tracer counted, as a profile without durations."""
