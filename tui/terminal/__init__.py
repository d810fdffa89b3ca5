"""What the terminal is, and text and tables fit for it; stderr and the exit codes."""
