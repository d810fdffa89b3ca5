"""View 4: all methods compared."""
