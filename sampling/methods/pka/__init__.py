"""Principal Kernel Analysis: selection, two-level profiling, and TBPoint as it compares it."""
