"""Which kernel group is meant by a rank, a part of a key, or a label as tables show it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from sampling.errors import OptionError
from sampling.profile.names import readable_name
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.grouping import KernelGroup
from sampling.text import Wording, listed, shortened

_RANKED = re.compile(r"#(\d+)(?:\s+(.+))?", re.DOTALL)
_SIZES = re.compile(r"(\d+)x(\d+)x(\d+)")
_BLOCK = re.compile(r"\[(\d+(?:x\d+){0,2})\]")
_PLACE = re.compile(r"(gpu|p)(\d+)")
# What stands in a label for letters that are left out.
_LEFT_OUT = re.compile(r"\u2026|\.{2,}|\.*~\d+$")
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"\b[^\W\d]\w*")
_LETTER = r"[A-Za-z0-9_]"
# Names of so many groups are looked through for what a wrong one may have meant.
_MOST_NEAR = 5_000


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """The group chosen, and how many others the text fits as well."""

    group: int
    others: int = 0


def choose_kernel(counts: DurationCounts, kernel: str | None) -> KernelChoice:
    """Return the group of "#3" (rank), or the largest whose key contains the text; the largest if None.

    Where no key contains it as it is written, case does not count. Where none does then, it is taken for a
    label as tables show it, with a mark for what is left out, which has to fit one group alone.

    Raises
    ------
    OptionError : no group has that rank, or contains that text; or a label fits none, or several.
    """
    if kernel is None:
        return KernelChoice(0)
    ranked = _RANKED.fullmatch(kernel.strip())
    if ranked is not None:
        return KernelChoice(_of_rank(counts, kernel, int(ranked[1]), ranked[2]))
    matches = groups_containing(counts, kernel)
    if matches:
        return KernelChoice(matches[0], len(matches) - 1)
    label = _label(kernel)
    fitting = [index for index, group in enumerate(counts.groups) if label.fits(group)]
    if not fitting:
        raise OptionError(
            Wording("`kernel={!r}`: no kernel group's key contains it", kernel),
            remedy=_near(counts.groups, kernel),
        )
    if len(fitting) > 1:
        ranks = listed([f"#{index + 1}" for index in fitting])
        raise OptionError(
            Wording("`kernel={!r}` is the label of several kernel groups: {}", kernel, ranks),
            remedy="give the rank of the one that is meant",
        )
    return KernelChoice(fitting[0])


def groups_containing(counts: DurationCounts, text: str) -> list[int]:
    """Return the groups whose key contains a text as it is written; in any case, where there is none.

    A mangled name is looked for as keys have it, demangled.
    """
    text = readable_name(text)
    found = [index for index, group in enumerate(counts.groups) if text in group.key]
    folded = text.casefold()
    return found or [index for index, group in enumerate(counts.groups) if folded in group.key.casefold()]


def _of_rank(counts: DurationCounts, kernel: str, rank: int, label: str | None) -> int:
    """Return the group of a rank; a label that follows it must be of the same group.

    Raises
    ------
    OptionError : there is no such rank, or the label is of another group.
    """
    if not 1 <= rank <= len(counts.groups):
        raise OptionError(Wording("`kernel={}`: ranks run from #1 to #{}", kernel, len(counts.groups)))
    group = counts.groups[rank - 1]
    if label is not None and label.casefold() not in group.key.casefold() and not _label(label).fits(group):
        raise OptionError(
            Wording("`kernel={!r}`: #{} is {}", kernel, rank, shortened(group.key)),
            remedy="give the rank or the name alone",
        )
    return rank - 1


@dataclass(frozen=True, slots=True)
class _Label:
    """What a label says of a group; what it does not say is None."""

    #: Each finds a part of the label in a name; there is none in a label without letters.
    parts: tuple[re.Pattern[str], ...]
    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    process: int | None
    device: int | None

    def fits(self, group: KernelGroup) -> bool:
        """Whether it may be the label of a group."""
        said = ("grid", "block", "process", "device")
        of_group = ((getattr(self, name), getattr(group, name)) for name in said)
        if not self.parts or not all(one in (None, other) for one, other in of_group):
            return False
        return all(part.search(group.name) for part in self.parts)


def _label(text: str) -> _Label:
    """Return what a label says: words of a name, a grid, a block in brackets, a device."""
    names: list[str] = []
    grid = block = None
    place: dict[str, int] = {}
    for word in text.split():
        if (found := _SIZES.fullmatch(word)) and names:
            grid = tuple(map(int, found.groups()))
        elif found := _BLOCK.fullmatch(word):
            sizes = [*map(int, found[1].split("x")), 1, 1]
            block = tuple(sizes[:3])
        elif (found := _PLACE.fullmatch(word)) and names:
            place[found[1]] = int(found[2])
        else:
            names.append(word)
    # Template arguments follow the function's name in an order of the label's own.
    parts = [part for word in names for part in word.split(",")]
    patterns = tuple(pattern for part in parts if (pattern := _pattern(part)))
    return _Label(patterns, grid, block, place.get("p"), place.get("gpu"))


def _pattern(part: str) -> re.Pattern[str] | None:
    """Return what finds a part of a label in a name: its pieces in order, whole where nothing is left out.

    It is None where the part has no letters.
    """
    pieces = _LEFT_OUT.split(part)
    found = []
    for place, piece in enumerate(pieces):
        words = _WORD.findall(piece)
        for number, word in enumerate(words):
            begins = place == 0 or number > 0 or not piece.startswith(word)
            ends = place == len(pieces) - 1 or number < len(words) - 1 or not piece.endswith(word)
            found.append(
                (f"(?<!{_LETTER})" if begins else "") + re.escape(word) + (f"(?!{_LETTER})" if ends else "")
            )
    return re.compile(".*?".join(found), re.DOTALL) if found else None


def _near(groups: Sequence[KernelGroup], kernel: str) -> str:
    """Return which groups may be meant by a name that none has."""
    ranks: dict[str, int] = {}
    for rank, group in enumerate(groups[:_MOST_NEAR], 1):
        for word in _NAME.findall(group.name):
            ranks.setdefault(word, rank)
    meant = max(_NAME.findall(kernel), key=len, default="")
    close = get_close_matches(meant, ranks, 3)
    near = listed([f"{shortened(word)} (#{ranks[word]})" for word in close])
    lists = "`kernelpoint groups` lists them"
    return f"near: {near}; {lists}" if close else lists
