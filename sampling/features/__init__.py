"""Features of launches: files of metrics, joined to the launches of a profile by identity."""
