"""From options to calls of the engine."""
