"""Words that mean something good or bad: what they say without colour, and what the colour is to say."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Tone(StrEnum):
    """What the colour of words says; the words say it too."""

    PLAIN = "plain"
    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"
    BAD = "bad"
    PART = "part"


class Phrase(NamedTuple):
    """Some words of one tone."""

    text: str
    tone: Tone = Tone.PLAIN


Words = tuple[Phrase, ...]
"""A row of text, phrase by phrase."""


def words(text: str | Words) -> Words:
    """Return a text as words; one without tones is plain."""
    return (Phrase(text),) if isinstance(text, str) else text


def plain(row: str | Words) -> str:
    """Return a row without its tones."""
    return "".join(phrase.text for phrase in words(row))


def toned(text: str, phrase: str, tone: Tone) -> Words:
    """Return a text in which the first occurrence of a phrase has a tone; plain where it does not occur."""
    before, found, after = text.partition(phrase)
    parts = (Phrase(before), Phrase(found, tone), Phrase(after))
    return tuple(part for part in parts if part.text)


def shortened_to(row: Words, text: str) -> Words:
    """Return the row as its first letters, in their tones, up to where a shorter text differs from it.

    Parameters
    ----------
    text : the row cut short, perhaps with a mark at its end that says so.
    """
    kept: list[Phrase] = []
    rest = text
    for phrase in row:
        kept.append(Phrase(rest[: len(phrase.text)], phrase.tone))
        rest = rest[len(phrase.text) :]
    return (*(part for part in kept if part.text), *([Phrase(rest)] if rest else []))


def joined(rows: Sequence[Words], separator: str) -> Words:
    """Return several rows as one, a plain separator between them."""
    parts: list[Phrase] = []
    for number, row in enumerate(rows):
        parts += [Phrase(separator), *row] if number else row
    return tuple(parts)
