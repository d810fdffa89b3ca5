"""The comparison of methods as rows, as a table of what can run and what cannot, and as a scatter."""
