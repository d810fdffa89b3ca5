"""Kernel groups: which launches form one, those of a workload, and which of them is meant by a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.errors import OptionError
from sampling.profile.names import readable_name, stem_script_name
from sampling.profile.profile import Column, Dimensions, KernelTable, Profile
from sampling.reduction import GroupBy
from sampling.text import Wording, shortened

#: How the key of a pool of small groups begins; no kernel has such a name.
POOL_NAME = "(pooled kernels)"
_RANKED = re.compile(r"#(\d+)(?:\s+(.+))?", re.DOTALL)
# Where a label tells a device and a process, and what stands in it for letters that are left out.
_SHORT_PLACE = re.compile(r"\b(gpu|p)(\d+)\b")
_PLACES = {"gpu": "device", "p": "process"}
# How the key of a group ends that is of one process and device.
_PLACE = re.compile(r" ((?:process|rank) \d+ device \d+)$")
_LEFT_OUT = re.compile(r"\u2026|\.{2,}|\.*~\d+(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Grouping:
    """The key of the kernel groups: what they share, and whether process and device are part of it.

    ``apart`` parts groups by their operators too; their keys do not tell that.
    """

    by: GroupBy = GroupBy.LAUNCH
    #: Whether a group spans processes and devices. None: where all of them issue the same launches, which
    #: `count_durations` finds out; what it returns says what it found.
    pool_devices: bool | None = False
    apart: bool = False

    @property
    def needs_shape(self) -> bool:
        """Whether grid and block are part of the key."""
        return self.by is GroupBy.LAUNCH

    @property
    def needs_operator(self) -> bool:
        """Whether groups cannot be told without the operators of launches."""
        return self.apart or self.by is GroupBy.OPERATOR

    @property
    def label(self) -> Column:
        """The column whose codes tell the groups apart, and the signatures within them."""
        return "operator" if self.needs_operator else "signature"

    def label_signatures(self, kernels: KernelTable) -> AnyIntArray:
        """Return (labels,) the code of the signature behind every code of the label so far."""
        if self.needs_operator:
            return kernels.operators()[1]
        return np.arange(len(kernels.signature_names()))


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """One kernel group. What its launches do not share is None."""

    key: str
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    process: int | None
    device: int | None
    #: The operator of its launches; "" where they have none or groups are not told by it.
    operator: str = ""

    @property
    def without_place(self) -> KernelGroup:
        """The group of this name and shape that spans processes and devices."""
        return replace(self, key=_PLACE.sub("", self.key), process=None, device=None)

    @property
    def place(self) -> str:
        """What its process and device are called, as its key says it; "" where they are not part of it."""
        match = _PLACE.search(self.key)
        return match[1] if match and self.process is not None else ""


def group_table(
    profile: Profile, grouping: Grouping, raw_selected: BoolArray
) -> tuple[list[KernelGroup], IntArray]:
    """Return the groups of a reduction, and (raw codes,) the index of each one's; -1 where not selected.

    ``raw_selected`` says which raw codes count. One is label * sequences + sequence, label a code of the
    grouping's label.
    """
    # Raw codes go by label first, so one label serves all its sequences.
    operators = profile.kernels.operators() if grouping.needs_operator else None
    shared = lru_cache(maxsize=1)(partial(_shared, profile.kernels, grouping.by, operators))
    group_of_raw = np.full(len(raw_selected), -1, dtype=np.int64)
    groups: dict[tuple[str, str], KernelGroup] = {}
    indices: dict[tuple[str, str], int] = {}
    for raw in np.flatnonzero(raw_selected).tolist():
        label, index = divmod(raw, len(profile.sequences))
        name, grid, block, operator = shared(label)
        sequence = profile.sequences[index]
        process, device = (None, None) if grouping.pool_devices else (sequence.process, sequence.device)
        key = group_key(name, grouping, grid, block, "" if grouping.pool_devices else sequence.place)
        group_of_raw[raw] = indices.setdefault((key, operator), len(indices))
        group = KernelGroup(key, name, grid, block, process, device, operator)
        groups.setdefault((key, operator), group)
    return list(groups.values()), group_of_raw


def _shared(
    kernels: KernelTable, by: GroupBy, operators: tuple[list[str], IntArray] | None, label: int
) -> tuple[str, Dimensions | None, Dimensions | None, str]:
    """Return name, grid, block and operator of a group from a code of its label.

    The name of an operator's is the operator's text; a launch without one stands under its kernel's name.
    """
    names, operator = kernels.names, ""
    if operators is not None:
        operator, label = operators[0][label], int(operators[1][label])
    if by is GroupBy.LAUNCH:
        signature = kernels.signature(label)
        return names.readable(signature.name), signature.grid, signature.block, operator
    code = int(kernels.signature_rows()[label, 0])
    if by is GroupBy.SHORT_NAME:
        return names.short(code), None, None, operator
    name = names.readable(code)
    if by is GroupBy.OPERATOR:
        return operator or name, None, None, operator
    return stem_script_name(name) if by is GroupBy.STEM_SCRIPT else name, None, None, operator


def group_key(
    name: str, grouping: Grouping, grid: Dimensions | None, block: Dimensions | None, place: str
) -> str:
    """Return the text that identifies a group: ``f(int) <<<8x1x1, 64x1x1>>> process 0 device 1``."""
    key = name + shape_text(grid, block) if grouping.needs_shape else name
    return f"{key} {place}" if place else key


def shape_text(grid: Dimensions | None, block: Dimensions | None) -> str:
    """Return what the key of a group says of its launches' grid and block."""
    return f" <<<{_dimensions(grid)}, {_dimensions(block)}>>>"


@lru_cache(maxsize=4096)
def _dimensions(dimensions: Dimensions | None) -> str:
    return "?" if dimensions is None else "x".join(map(str, dimensions))


def choose_kernel(groups: Sequence[KernelGroup], kernel: str | None) -> tuple[int, int]:
    """Return the group of "#3" (rank), or the largest whose key contains the text; the largest if None.

    With it, how many others the text fits as well. Where no key contains it as it is written, case does not
    count; where none does then, it is taken for a label as tables show it: all its words are in the key.

    Raises OptionError: no group has that rank, or contains that text.
    """
    if kernel is None:
        return 0, 0
    if ranked := _RANKED.fullmatch(kernel.strip()):
        rank, label = int(ranked[1]), ranked[2]
        if not 1 <= rank <= len(groups):
            raise OptionError(Wording("`kernel={}`: ranks run from #1 to #{}", kernel, len(groups)))
        key = groups[rank - 1].key
        if label and label.casefold() not in key.casefold() and not _in_words(key, label):
            raise OptionError(Wording("`kernel={!r}`: #{} is {}", kernel, rank, shortened(key)))
        return rank - 1, 0
    # A mangled name is looked for as keys have it.
    text = readable_name(kernel)
    for fits in (str.__contains__, lambda key, text: text.casefold() in key.casefold(), _in_words):
        fitting = [index for index, group in enumerate(groups) if fits(group.key, text)]
        if fitting:
            return fitting[0], len(fitting) - 1
    message = Wording("`kernel={!r}`: no kernel group's key contains it", kernel)
    raise OptionError(message, remedy="`kernelpoint groups` lists them")


def _in_words(key: str, label: str) -> bool:
    """Return whether all words of a label are in a key; letters are left out at a mark."""
    text = _SHORT_PLACE.sub(lambda place: f"{_PLACES[place[1]]} {place[2]}", _LEFT_OUT.sub(" ", label))
    words = re.findall(r"(?:device|process|rank) \d+|\w+", text)
    return bool(words) and all(word in key for word in words)


def pool_key(place: str) -> str:
    """Return the text that identifies the pool of a process and device; "" where devices are pooled."""
    return f"{POOL_NAME} {place}" if place else POOL_NAME


def is_pool_key(key: str) -> bool:
    """Return whether a group's key is that of a pool."""
    return key == POOL_NAME or key.startswith((f"{POOL_NAME} process ", f"{POOL_NAME} rank "))
