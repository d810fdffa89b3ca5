"""The filters: which launches count, and what a kernel group is."""
