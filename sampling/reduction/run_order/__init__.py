"""What the order of the launches shows that their durations alone do not."""
