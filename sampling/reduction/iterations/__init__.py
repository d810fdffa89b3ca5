"""The iterations of a loop, found in the order of the launches alone."""
