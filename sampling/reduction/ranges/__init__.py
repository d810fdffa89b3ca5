"""The ranges that a program named, as a tree; and which launches of a region they hold."""
