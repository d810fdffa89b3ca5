"""Nsight Systems: SQLite exports, Parquet and Arrow folders, and the CSV of `nsys stats`."""
