"""The same for the scale model: from a sheet or options to predictions, rows and words."""
