"""nvprof, NVIDIA's profiler before Nsight Systems."""
