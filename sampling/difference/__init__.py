"""Two profiles, or two parts of one, kernel by kernel."""
