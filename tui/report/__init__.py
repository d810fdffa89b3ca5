"""A profile and its plan as one file: sections as data, and a writer for each form."""
