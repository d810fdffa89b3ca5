"""Tables that no profiler wrote: which of their columns is which, and CSV read by that."""
