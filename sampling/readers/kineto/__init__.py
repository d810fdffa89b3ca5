"""PyTorch profiler traces (Kineto)."""
