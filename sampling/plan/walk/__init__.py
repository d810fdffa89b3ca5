"""The decisions behind a plan, one at a time, and the user's own."""
