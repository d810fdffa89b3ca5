"""A field of one row to type in; what its keys do differs from view to view."""

from __future__ import annotations

from textual.widgets import Input


class FieldInput(Input):
    """A field without a frame, in the colours of what is around it."""
