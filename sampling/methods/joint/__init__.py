"""Joint: one bound for the whole workload and a looser one a kernel group, priced."""
