"""Kernel groups: which launches form one, those of a workload, and which of them is meant by a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import OptionError
from sampling.profile.names import readable_name, stem_script_name
from sampling.profile.profile import Dimensions, KernelTable, Profile
from sampling.reduction import GroupBy
from sampling.text import Wording, listed, shortened

_RANKED = re.compile(r"#(\d+)(?:\s+(.+))?", re.DOTALL)
# Words of a label that are no part of the name: grid, block, device and process.
_SIZES = re.compile(r"\d+x\d+x\d+")
_BLOCK = re.compile(r"\[(\d+)(?:x(\d+))?(?:x(\d+))?\]")
_PLACE = re.compile(r"(gpu|p)(\d+)")
# What stands in a label for letters that are left out.
_LEFT_OUT = re.compile(r"\u2026|\.{2,}|\.*~\d+$")


@dataclass(frozen=True, slots=True)
class Grouping:
    """The key of the kernel groups: what they share, and whether process and device are part of it."""

    by: GroupBy = GroupBy.LAUNCH
    pool_devices: bool = False

    @property
    def needs_shape(self) -> bool:
        """Whether grid and block are part of the key."""
        return self.by is GroupBy.LAUNCH


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """One kernel group. What its launches do not share is None."""

    key: str
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    process: int | None
    device: int | None


def group_table(
    profile: Profile, grouping: Grouping, raw_selected: BoolArray
) -> tuple[list[KernelGroup], IntArray]:
    """Return the groups of a reduction, and (raw codes,) the index of each one's; -1 where not selected.

    Parameters
    ----------
    raw_selected : (raw codes,) which raw codes count; raw code = label * sequences + sequence, label the
        signature code if the grouping needs shapes, else the name code.
    """
    # Raw codes go by label first, so one label serves all its sequences.
    shared = lru_cache(maxsize=1)(partial(_shared, profile.kernels, grouping.by))
    group_of_raw = np.full(len(raw_selected), -1, dtype=np.int64)
    groups: dict[str, KernelGroup] = {}
    indices: dict[str, int] = {}
    for raw in np.flatnonzero(raw_selected).tolist():
        label, index = divmod(raw, len(profile.sequences))
        name, grid, block = shared(label)
        sequence = profile.sequences[index]
        process, device = (None, None) if grouping.pool_devices else (sequence.process, sequence.device)
        key = group_key(name, grouping, grid, block, process, device)
        group_of_raw[raw] = indices.setdefault(key, len(indices))
        groups.setdefault(key, KernelGroup(key, name, grid, block, process, device))
    return list(groups.values()), group_of_raw


def _shared(
    kernels: KernelTable, by: GroupBy, label: int
) -> tuple[str, Dimensions | None, Dimensions | None]:
    """Return name, grid and block of a group from the code of a signature or name."""
    names = kernels.names
    if by is GroupBy.LAUNCH:
        signature = kernels.signature(label)
        return names.readable(signature.name), signature.grid, signature.block
    if by is GroupBy.SHORT_NAME:
        return names.short(label), None, None
    name = names.readable(label)
    return stem_script_name(name) if by is GroupBy.STEM_SCRIPT else name, None, None


def group_key(
    name: str,
    grouping: Grouping,
    grid: Dimensions | None,
    block: Dimensions | None,
    process: int | None,
    device: int | None,
) -> str:
    """Return the text that identifies a group: ``f(int) <<<8x1x1, 64x1x1>>> process 0 device 1``."""
    key = name
    if grouping.needs_shape:
        key += f" <<<{_dimensions(grid)}, {_dimensions(block)}>>>"
    if process is not None:
        key += f" process {process} device {device}"
    return key


@lru_cache(maxsize=4096)
def _dimensions(dimensions: Dimensions | None) -> str:
    return "?" if dimensions is None else "x".join(map(str, dimensions))


def choose_kernel(groups: Sequence[KernelGroup], kernel: str | None) -> tuple[int, int]:
    """Return the group of "#3" (rank), or the largest whose key contains the text; the largest if None.

    With it, how many others the text fits as well.

    Where no key contains it as it is written, case does not count. Where none does then, it is taken for a
    label as tables show it, with a mark for what is left out, which has to fit one group alone.

    Raises
    ------
    OptionError : no group has that rank, or contains that text; or a label fits none, or several.
    """
    if kernel is None:
        return 0, 0
    if ranked := _RANKED.fullmatch(kernel.strip()):
        rank, label = int(ranked[1]), ranked[2]
        if not 1 <= rank <= len(groups):
            raise OptionError(Wording("`kernel={}`: ranks run from #1 to #{}", kernel, len(groups)))
        group = groups[rank - 1]
        if label and label.casefold() not in group.key.casefold() and not _fits(label, group):
            raise OptionError(Wording("`kernel={!r}`: #{} is {}", kernel, rank, shortened(group.key)))
        return rank - 1, 0
    # A mangled name is looked for as keys have it.
    text = readable_name(kernel)
    folded = text.casefold()
    found = [index for index, group in enumerate(groups) if text in group.key]
    found = found or [index for index, group in enumerate(groups) if folded in group.key.casefold()]
    if found:
        return found[0], len(found) - 1
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
    return found[0], 0


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
