"""Tables as a terminal shows them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.output.blocks import Listing
from tui.terminal.printable import Column, names, table

CELLS = st.lists(st.text("x\u6838\uff37\u00fc", max_size=6), min_size=1, max_size=5)


@given(CELLS, st.booleans())
def test_columns_stand_below_each_other_whatever_letters_are_in_them(
    cells: list[str], to_right: bool
) -> None:
    column, last = Column("heading", cells, to_right=to_right), ["|"] * len(cells)
    listing = Listing([column], "|", lambda *_: "|")
    for text in (table([column, names("|", last)]), listing.text(80)):
        assert len({cell_len(line) for line in text.splitlines()}) == 1
