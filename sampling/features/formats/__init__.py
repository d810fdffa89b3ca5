"""Files of per-launch features: one module or folder a format."""
