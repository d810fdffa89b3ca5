"""Nsight Compute: the details and the raw page of its CSV."""
