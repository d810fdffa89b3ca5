"""Tables as a terminal shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.output.blocks import Listing
from tui.terminal.printable import Column, names, table, wrapped

CELLS = st.lists(st.text("x\u6838\uff37\u00fc", max_size=6), min_size=1, max_size=5)


@given(CELLS, st.booleans())
def test_columns_stand_below_each_other_whatever_letters_are_in_them(
    cells: list[str], to_right: bool
) -> None:
    column, last = Column("heading", cells, to_right=to_right), ["|"] * len(cells)
    listing = Listing([column], "|", lambda *_: "|")
    for text in (table([column, names("|", last)]), listing.text(80)):
        assert len({cell_len(line) for line in text.splitlines()}) == 1


WIDE = "\u6838"
SENTENCES = st.lists(st.text("ab\u6838\uff37", min_size=1, max_size=9), min_size=1, max_size=9).map(" ".join)


@given(SENTENCES, st.integers(1, 30), st.sampled_from(["", "  "]), st.booleans())
def test_a_sentence_is_wrapped_by_the_columns_that_its_letters_take(
    text: str, width: int, indent: str, breaks_words: bool
) -> None:
    first, *others = lines = wrapped(text, width, indent, breaks_words=breaks_words)
    assert all(line.startswith(indent) for line in others)
    bare = [first, *(line.removeprefix(indent) for line in others)]
    assert "".join(bare).replace(" ", "") == text.replace(" ", ""), "no letter is lost"
    wide = [line for line in lines if cell_len(line) > max(width, len(indent) + 2)]
    if breaks_words:
        assert not wide
    else:
        assert " ".join(bare) == text, "lines end between words"
        assert all(" " not in line.strip() for line in wide), "a word alone may be wider"
    for line, following in zip(lines, bare[1:], strict=False):
        assert cell_len(f"{line} {following.split()[0]}") > width, "no word has a line to itself for nothing"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        (f"{WIDE * 4} {WIDE * 3} ab", 14, [f"{WIDE * 4}", f"{WIDE * 3} ab"]),
        ("it is off by 3.5 %, say two", 17, ["it is off by", "3.5 %, say two"]),
        ("  indented  twice", 12, ["  indented", "twice"]),
        ("", 12, []),
    ],
)
def test_lines_of_a_sentence(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines
