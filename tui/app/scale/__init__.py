"""View 5: the scale model."""
