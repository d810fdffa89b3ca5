"""Which words tell a few things apart: as few as needed, the most telling first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

Words = tuple[str, ...]

# At `_`, and between a word and a tile; in names without `_` at capitals too.
_BORDER = re.compile(r"(?<=[^_])(_+)(?=[^_])|(?<=[a-z]{4})(?=\d+x\d)")
_CAPITAL = re.compile(r"(?<=[a-z0-9])()(?=[A-Z])|(?<=[a-z]{4})(?=\d+x\d)")
_TILE = re.compile(r"\d+x\d+")
_DIGIT = re.compile(r"\d")


def atoms_of(word: str) -> list[tuple[str, str]]:
    """Return what a long word is made of: (what stands before it, atom), divided at `_`, else at capitals.

    >>> atoms_of("sgemm_tilesize128x64_tn"), atoms_of("RadixSort")
    ([('', 'sgemm'), ('_', 'tilesize'), ('', '128x64'), ('_', 'tn')], [('', 'Radix'), ('', 'Sort')])
    """
    parts = _border_of(word).split(word)
    return [("", parts[0]), *((parts[at] or "", parts[at + 1]) for at in range(1, len(parts), 2))]


def _border_of(word: str) -> re.Pattern[str]:
    return _BORDER if "_" in word.strip("_") else _CAPITAL


def telling_atoms(words: Sequence[str]) -> list[dict[str, int]]:
    """Return the atoms that tell each distinct word from the others, by rank: tiles and numbers first."""
    atoms = {word: tuple(atom for _, atom in atoms_of(word)) for word in words}

    def by_weight(word: str) -> Words:
        return tuple(sorted(dict.fromkeys(atoms[word]), key=_weight))

    found = tell_apart(words, (by_weight, atoms.__getitem__))
    return [{atom: rank for rank, atom in enumerate(each)} for each in found]


def _weight(atom: str) -> int:
    return 0 if _TILE.search(atom) else 1 if _DIGIT.search(atom) else 2


def tell_apart(things: Sequence[str], stages: Sequence[Callable[[str], Words]]) -> list[list[str]]:
    """Return the words of each thing that tell it from the others.

    Parameters
    ----------
    stages : the words of a thing, those of the next stage for things that the one before does not tell apart.
        Words that all have in common are left out.
    """
    needed: list[list[str]] = [[] for _ in things]
    alike = [list(range(len(things)))] if len(things) > 1 else []
    for words_of in stages:
        left: list[list[int]] = []
        for members in alike:
            lists = [words_of(things[each]) for each in members]
            left += _divided(_own_words(lists), members, needed)
        alike = left
    return [list(dict.fromkeys(words)) for words in needed]


def _own_words(lists: Sequence[Words]) -> list[Words]:
    """Return the lists without the words that all have equally often; whole where no others differ."""
    among: Counter[tuple[str, int]] = Counter()
    for words in lists:
        among.update(Counter(words).items())
    common = {word for (word, _), number in among.items() if number == len(lists)}
    own = [tuple(word for word in words if word not in common) for words in lists]
    return own if len(set(own)) > 1 else list(lists)


def _divided(lists: Sequence[Words], members: Sequence[int], needed: list[list[str]]) -> list[list[int]]:
    """Add to each member's words those where it parts from others; return the members that stay alike."""
    alike: list[list[int]] = []
    waiting = [(list(range(len(lists))), 0)]
    while waiting:
        together, at = waiting.pop()
        parts: dict[str | None, list[int]] = {}
        for each in together:
            word = lists[each][at] if at < len(lists[each]) else None
            parts.setdefault(word, []).append(each)
        if set(parts) == {None}:
            alike.append([members[each] for each in together])
            continue
        for word, part in parts.items():
            if word is not None and len(parts) > 1:
                for each in part:
                    needed[members[each]].append(word)
            if len(part) > 1:
                waiting.append((part, at + 1))
    return alike
