"""ROCm's profilers: rocprof, rocprofv2 and rocprofv3."""
