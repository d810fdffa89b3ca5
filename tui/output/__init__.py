"""The one owner of stdout and writer of files."""
