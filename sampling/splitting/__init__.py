"""Splitting a kernel group: exact 1-D k-means, the trees it grows, and the decisions in them."""
