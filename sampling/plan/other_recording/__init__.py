"""A plan on another recording of its program."""
