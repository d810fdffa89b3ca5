"""The configurations of scale models, from that of their target."""
