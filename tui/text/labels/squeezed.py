"""Words in little room: of each as many atoms as fit, important ones first, a mark for what is left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

_SHORT_FIRST = 6


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of a word.

    Attributes
    ----------
    before : what parts it from the piece before.
    weight : pieces of less weight are kept first.
    """

    before: str
    text: str
    weight: float


Word = tuple[Atom, ...]


def whole(words: Sequence[Word]) -> str:
    """Return all words in full."""
    return _joined(["".join(atom.before + atom.text for atom in word) for word in words])


def squeezed(words: Sequence[Word], room: int, mark: str, worth: float) -> str:
    """Return the words in at most `room` columns.

    A word of which nothing has room is left out without a mark. The first atom of all stays, and is cut where
    more of what is worth it has room then.

    Parameters
    ----------
    worth : atoms of less weight are worth that cut.
    """
    text = whole(words)
    if len(text) <= room:
        return text
    kept = _kept(words, room, mark)
    first = words[0][0]
    if len(first.text) > _SHORT_FIRST + len(mark):
        # What is cut off is an atom too, which never has room.
        rest = (replace(first, text=first.text[:_SHORT_FIRST]), Atom("", " " * room, math.inf), *words[0][1:])
        shorter = (rest, *words[1:])
        kept_then = _kept(shorter, room, mark)
        if _weights(shorter, kept_then, worth) < _weights(words, kept, worth):
            words, kept = shorter, kept_then
    shown = [_shown(word, keep, mark) for word, keep in zip(words, kept, strict=True)]
    return _joined(shown) if shown[0] else cut(text, room, mark)


def _weights(words: Sequence[Word], kept: Sequence[Sequence[bool]], below: float) -> list[float]:
    """Return the small weights of what is kept, infinity after them: the least list is the best choice."""
    pairs = zip(words, kept, strict=True)
    found = [atom.weight for word, keep in pairs for atom, is_kept in zip(word, keep, strict=True) if is_kept]
    return [*sorted(weight for weight in found if weight < below), math.inf]


def _kept(words: Sequence[Word], room: int, mark: str) -> list[list[bool]]:
    """Return which atoms have room."""
    kept = [[False] * len(word) for word in words]
    left = room
    by_weight = sorted(
        (atom.weight, at, place) for at, word in enumerate(words) for place, atom in enumerate(word)
    )
    for _, at, place in by_weight:
        taken = _taken(words[at], kept[at], place, len(mark)) + (1 if at and not any(kept[at]) else 0)
        if taken <= left:
            kept[at][place] = True
            left -= taken
    return kept


def cut(text: str, room: int, mark: str) -> str:
    """Return a text with its middle left out."""
    if len(text) <= room:
        return text
    tail = max(room - len(mark), 2) // 2
    head = max(room - len(mark), 2) - tail
    return (text[:head] + mark + text[len(text) - tail :])[:room]


def _taken(word: Word, kept: Sequence[bool], place: int, mark: int) -> int:
    """Return how much longer a word becomes if one more of its atoms is kept."""
    last = len(word) - 1
    left_out_before, left_out_after = place > 0 and not kept[place - 1], place < last and not kept[place + 1]
    taken = len(word[place].text) + mark * (left_out_before + left_out_after)
    if any(kept):
        # What is left out here becomes two gaps, one or none.
        taken -= mark
    if place > 0 and kept[place - 1]:
        taken += len(word[place].before)
    if place < last and kept[place + 1]:
        taken += len(word[place + 1].before)
    return taken


def _shown(word: Word, kept: Sequence[bool], mark: str) -> str:
    if not any(kept):
        return ""
    pieces: list[str] = []
    for place, atom in enumerate(word):
        if not kept[place]:
            if place == 0 or kept[place - 1]:
                pieces.append(mark)
        elif place and kept[place - 1]:
            pieces.append(atom.before + atom.text)
        else:
            pieces.append(atom.text)
    return "".join(pieces)


def _joined(texts: Sequence[str]) -> str:
    """Return a kernel's name, and after a blank the words that tell it apart."""
    details = ",".join(text for text in texts[1:] if text)
    return f"{texts[0]} {details}" if details else texts[0]
