"""Words in little room: of each as many atoms as fit, important ones first, a mark for what is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Fewer letters of a piece that is cut say nothing, and only long pieces are cut within a part.
_LEAST_LETTERS, _LONG = 4, 8
_PART = re.compile(r"(?<=[a-z])(?=[A-Z])")


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


def squeezed(words: Sequence[Word], room: int, mark: str) -> str:
    """Return the words in at most `room` columns.

    A word of which nothing has room is left out without a mark. Of the first atom without room its beginning
    is shown.
    """
    text = whole(words)
    if len(text) <= room:
        return text
    kept = [[0] * len(word) for word in words]
    left = room
    places = [(at, place) for at, word in enumerate(words) for place in range(len(word))]
    places.sort(key=lambda where: words[where[0]][where[1]].weight)
    for at, place in places:
        taken = _taken(words[at], kept[at], place, len(mark)) + (1 if at and not any(kept[at]) else 0)
        if taken <= left:
            kept[at][place] = len(words[at][place].text)
            left -= taken
    for at, place in places if kept[0][0] else ():
        letters = words[at][place].text
        # At best it takes the place of a mark.
        if not kept[at][place] and beginning(letters, left + len(mark)):
            kept[at][place] = 1
            kept[at][place] = beginning(letters, room - len(_shown(words, kept, mark)) + 1)
            if kept[at][place]:
                break
    return _shown(words, kept, mark) if kept[0][0] else cut(text, room, mark)


def beginning(text: str, most: int) -> int:
    """Return how many letters of a word to show, best to the end of a part; 0 where they say nothing."""
    if most < _LEAST_LETTERS or not text.isalpha():
        return 0
    in_part = most if len(text) >= _LONG else 0
    return max((end.start() for end in _PART.finditer(text, _LEAST_LETTERS, most + 1)), default=in_part)


def cut(text: str, room: int, mark: str) -> str:
    """Return a text with its middle left out."""
    if len(text) <= room:
        return text
    tail = max(room - len(mark), 2) // 2
    head = max(room - len(mark), 2) - tail
    return (text[:head] + mark + text[len(text) - tail :])[:room]


def _taken(word: Word, kept: Sequence[int], place: int, mark: int) -> int:
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


def _shown(words: Sequence[Word], kept: Sequence[Sequence[int]], mark: str) -> str:
    """Return the words with as many letters of each atom as are kept."""
    texts = []
    for word, letters_of in zip(words, kept, strict=True):
        text, is_cut = "", False
        for atom, letters in zip(word, letters_of, strict=True):
            if letters:
                text += ("" if is_cut else atom.before) + atom.text[:letters]
                is_cut = False
            if letters < len(atom.text) and not is_cut:
                text += mark
                is_cut = True
        texts.append(text if any(letters_of) else "")
    return _joined(texts)


def _joined(texts: Sequence[str]) -> str:
    """Return a kernel's name, and after a blank the words that tell it apart."""
    details = ",".join(text for text in texts[1:] if text)
    return f"{texts[0]} {details}" if details else texts[0]
