"""Charts as grids of glyphs: drawn once, shown by any sink."""
