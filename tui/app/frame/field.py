"""Fields of one row to type in, and the words over them."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding
from textual.widgets import Input, Static

from tui.options.files import completed, last_completed
from tui.terminal.printable import printable

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


class FieldWords(Static):
    """The longest of several wordings that fits a row; where none does, the shortest on several."""

    DEFAULT_CSS = """
    FieldWords { height: auto; max-height: 6; width: 1fr; }
    FieldWords.-refused { color: ansi_red; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, forms: Sequence[str]) -> None:
        """Show one of these, which are the longest first."""
        self.remove_class("-refused")
        width = self.app.size.width
        self._write(next((form for form in forms if len(form) <= width), forms[-1]))

    def refuse(self, why: str) -> None:
        """Show why something is not done."""
        self.add_class("-refused")
        self._write(f"! {why}")

    def _write(self, text: str) -> None:
        self.update(printable(text))
