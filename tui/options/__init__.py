"""The frozen options of every command, and how they are written on a command line."""
