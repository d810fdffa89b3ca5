"""Which kernel group is meant by a rank, a part of a key, or a name as tables shorten it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sampling.errors import OptionError
from sampling.profile.names import readable_name
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.grouping import KernelGroup
from sampling.text import Wording, listed, shortened

_RANKED = re.compile(r"#(\d+)(?:\s+(.+))?", re.DOTALL)
# Words of a label that are no part of the name: grid, block, device and process.
_SIZES = re.compile(r"\d+x\d+x\d+")
_BLOCK = re.compile(r"\[(\d+)(?:x(\d+))?(?:x(\d+))?\]")
_PLACE = re.compile(r"(gpu|p)(\d+)")
# What stands in a label for letters that are left out.
_LEFT_OUT = re.compile(r"\u2026|\.{2,}|\.*~\d+$")


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
    groups = counts.groups
    if ranked := _RANKED.fullmatch(kernel.strip()):
        rank, label = int(ranked[1]), ranked[2]
        if not 1 <= rank <= len(groups):
            raise OptionError(Wording("`kernel={}`: ranks run from #1 to #{}", kernel, len(groups)))
        group = groups[rank - 1]
        if label and label.casefold() not in group.key.casefold() and not _fits(label, group):
            raise OptionError(Wording("`kernel={!r}`: #{} is {}", kernel, rank, shortened(group.key)))
        return KernelChoice(rank - 1)
    # A mangled name is looked for as keys have it.
    text = readable_name(kernel)
    folded = text.casefold()
    found = [index for index, group in enumerate(groups) if text in group.key]
    found = found or [index for index, group in enumerate(groups) if folded in group.key.casefold()]
    if found:
        return KernelChoice(found[0], len(found) - 1)
    found = [index for index, group in enumerate(groups) if _fits(kernel, group)]
    if not found:
        raise OptionError(
            Wording("`kernel={!r}`: no kernel group's key contains it", kernel),
            remedy="`kernelpoint groups` lists them",
        )
    if len(found) > 1:
        ranks = listed([f"#{index + 1}" for index in found])
        raise OptionError(
            Wording("`kernel={!r}` is the label of several kernel groups: {}", kernel, ranks),
            remedy="give the rank of the one that is meant",
        )
    return KernelChoice(found[0])


def _fits(label: str, group: KernelGroup) -> bool:
    """Return whether a text may be the label of a group: words of its name, its grid, block and place."""
    has_name = False
    for word in label.split():
        place = _PLACE.fullmatch(word) if has_name else None
        if has_name and _SIZES.fullmatch(word):
            fits = group.grid == tuple(map(int, word.split("x")))
        elif block := _BLOCK.fullmatch(word):
            fits = group.block == tuple(int(size or 1) for size in block.groups())
        elif place:
            fits = int(place[2]) == (group.process if place[1] == "p" else group.device)
        else:
            # Template arguments follow the function's name in an order of the label's own.
            patterns = [pattern for part in word.split(",") if (pattern := _pattern(part))]
            fits = all(re.search(pattern, group.name, re.DOTALL) for pattern in patterns)
            has_name = has_name or bool(patterns)
        if not fits:
            return False
    return has_name


def _pattern(part: str) -> str:
    """Return what finds a part of a label in a name: its words in order, whole where nothing is left out."""
    pieces, words = _LEFT_OUT.split(part), []
    for place, piece in enumerate(pieces):
        for word in re.finditer(r"\w+", piece):
            begins = "" if place and word.start() == 0 else r"(?<![A-Za-z0-9_])"
            ends = "" if place + 1 < len(pieces) and word.end() == len(piece) else r"(?![A-Za-z0-9_])"
            words.append(begins + re.escape(word[0]) + ends)
    return ".*?".join(words)
