"""What view 5 works on: the tables that were read or typed, which one is open, and how to predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from tui.engine.bundled import sample_scale_question
from tui.scale.sheet import HowToPredict, ScaleSheet, blank_sheet
from tui.scale.sheet_options import SheetAnswer, SheetSource, answer_of, read_sheets


@dataclass(frozen=True, slots=True)
class ScaleDesk:
    """Sheets, one of them open; every action makes a new desk.

    Attributes
    ----------
    sheets : as they are now, at least one.
    sources : where each was read from, as long as ``sheets``; None for one that was typed.
    place : of the open sheet.
    how : what is asked of it.
    is_made_up : whether the numbers are the bundled ones, which no GPU has.
    before : the desk before the last edit; None where nothing was edited.
    """

    sheets: tuple[ScaleSheet, ...]
    sources: tuple[SheetSource | None, ...]
    place: int = 0
    how: HowToPredict = HowToPredict()
    is_made_up: bool = False
    before: ScaleDesk | None = None

    @property
    def sheet(self) -> ScaleSheet:
        """The open one."""
        return self.sheets[self.place]

    @property
    def source(self) -> SheetSource | None:
        """Where the open one was read from."""
        return self.sources[self.place]

    @property
    def is_edited(self) -> bool:
        """Whether the open sheet is another than the one read; one that was typed is not."""
        return self.source is not None and self.source.sheet != self.sheet

    def answer(self) -> SheetAnswer:
        """Return what is predicted from the open sheet.

        Raises
        ------
        OptionError : see `tui.scale.sheet_options.answer_of`.
        """
        return answer_of(self.sheet, self.how, self.source)

    def edited(self, sheet: ScaleSheet) -> ScaleDesk:
        """Return the desk with another sheet in the place of the open one."""
        if sheet == self.sheet:
            return self
        sheets = (*self.sheets[: self.place], sheet, *self.sheets[self.place + 1 :])
        return replace(self, sheets=sheets, before=self)

    def emptied(self) -> ScaleDesk:
        """Return a desk with a blank sheet alone."""
        return ScaleDesk((blank_sheet(),), (None,), how=self.how, before=self)

    def undone(self) -> ScaleDesk:
        """Return the desk before the last edit, asked as now; this one where nothing was edited."""
        return self if self.before is None else replace(self.before, how=self.how)

    def next(self) -> ScaleDesk:
        """Return the desk with the next sheet open, the first after the last."""
        return replace(self, place=(self.place + 1) % len(self.sheets))

    def asked(self, how: HowToPredict) -> ScaleDesk:
        """Return the desk with something else asked."""
        return replace(self, how=how)

    def opened(self, sources: Sequence[SheetSource]) -> ScaleDesk:
        """Return the desk with these sheets, one at least, asked as now."""
        return replace(desk_of(sources), how=self.how, before=self)


def desk_of(sources: Sequence[SheetSource], *, is_made_up: bool = False) -> ScaleDesk:
    """Return a desk with these sheets, one at least, the first one open."""
    return ScaleDesk(tuple(source.sheet for source in sources), tuple(sources), is_made_up=is_made_up)


@cache
def made_up_desk() -> ScaleDesk:
    """Return the desk with the bundled numbers."""
    return desk_of(read_sheets([str(sample_scale_question())]), is_made_up=True)
