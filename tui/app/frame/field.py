"""Fields of one row to type in; what their keys do differs from view to view."""

from __future__ import annotations

from textual.binding import Binding
from textual.widgets import Input

from tui.options.places import completed, last_completed

_MOST_NAMES = 12


class FieldInput(Input):
    """A field without a frame, in the colours of what is around it."""


class PathInput(FieldInput):
    """A field for a path: tab completes it, as a shell does, and leaves the field in no case.

    Attributes
    ----------
    completes : whether it is a path that is asked for.
    takes_several : whether there may be several, quoted as in a shell; that at the cursor is completed.
    """

    BINDINGS = [Binding("tab,shift+tab", "complete", "Complete", key_display="tab", show=False)]  # noqa: RUF012

    completes, takes_several = True, False

    def action_complete(self) -> None:
        """Complete the path as far as the names that are there agree; if no further, say what they are."""
        if not self.completes:
            return
        here = self.cursor_position
        before = self.value[:here]
        text, names = (last_completed if self.takes_several else completed)(before)
        if text != before:
            self.value = text + self.value[here:]
            self.cursor_position = len(text)
        elif len(names) > 1:
            more = len(names) - _MOST_NAMES
            shown = [*names[:_MOST_NAMES], *([f"and {more:,} more"] if more > 0 else [])]
            self.notify("  ".join(shown), markup=False)
