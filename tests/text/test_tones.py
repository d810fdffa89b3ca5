"""Rows of words with tones: the words stay what they are, however they are coloured or cut."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.text.promise import verdict
from tui.text.tones import Phrase, Tone, joined, plain, shortened_to, toned, words

PHRASES = st.builds(Phrase, st.text("ab !", max_size=5), st.sampled_from(Tone))
ROWS = st.lists(PHRASES, max_size=5).map(tuple)


@given(st.text("abc", max_size=12), st.text("abc", min_size=1, max_size=3))
def test_a_tone_is_that_of_the_first_occurrence_alone(text: str, phrase: str) -> None:
    row = toned(text, phrase, Tone.BAD)
    assert plain(row) == text
    bad = [number for number, part in enumerate(row) if part.tone is Tone.BAD]
    assert len(bad) == (phrase in text)
    if bad:
        assert len(plain(row[: bad[0]])) == text.index(phrase)


@given(ROWS, st.integers(0, 30))
def test_a_row_cut_short_keeps_its_tones(row: tuple[Phrase, ...], most: int) -> None:
    text = plain(row)[:most]
    cut = shortened_to(row, text)
    assert plain(cut) == text
    tones = [phrase.tone for phrase in row for _ in phrase.text]
    assert [phrase.tone for phrase in cut for _ in phrase.text] == tones[: len(text)]


def test_a_longer_text_ends_plainly() -> None:
    assert shortened_to((Phrase("ab", Tone.BAD),), "ab...") == (Phrase("ab", Tone.BAD), Phrase("..."))


@given(st.lists(ROWS, max_size=4))
def test_rows_are_joined_as_text_is(rows: list[tuple[Phrase, ...]]) -> None:
    assert plain(joined(rows, ", ")) == ", ".join(map(plain, rows))


def test_a_text_is_a_plain_row() -> None:
    assert words("a text") == (Phrase("a text", Tone.PLAIN),)


@pytest.mark.parametrize(
    ("simulated", "own", "said"),
    [
        (0.05, 0.9, ("met", Tone.GOOD)),
        (0.0501, 0.01, ("not met", Tone.BAD)),
        (None, 0.05, ("met", Tone.GOOD)),
        (None, 0.06, ("not met", Tone.BAD)),
        (None, None, ("no bound", Tone.WARNING)),
    ],
)
def test_a_promise_is_met_where_its_bound_is_within_epsilon(
    simulated: float | None, own: float | None, said: tuple[str, Tone]
) -> None:
    design: Any = SimpleNamespace(bound_with_noise=simulated, bound=own, target=SimpleNamespace(epsilon=0.05))
    assert verdict(design) == said
