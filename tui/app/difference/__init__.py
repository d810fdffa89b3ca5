"""View 7: two recordings kernel by kernel."""
