"""From small simulated systems to the IPC of larger ones."""
