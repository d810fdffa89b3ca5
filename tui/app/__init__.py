"""The Textual app; the only place where Textual is imported."""
