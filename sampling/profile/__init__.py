"""What was recorded: a profile, its kernels and files, in memory or as a source of batches."""
