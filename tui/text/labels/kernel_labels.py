"""Labels of kernel groups: short names that keep what tells the groups of one list apart.

A label is the function's own name, those of its template arguments that tell it from others of the name, the
grid, the block where groups differ in it alone, and the device where there are several. Where the room is too
small for a long name, tiles, numbers and what differs stay, and a mark stands for what is left out.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sampling.reduction.grouping import KernelGroup
from sampling.text import counted
from tui.terminal.printable import is_ascii, printable, shortened
from tui.text.labels.short_names import ShortNames
from tui.text.labels.squeezed import cut

Dimensions = tuple[int, int, int] | None

_LEAST_NAME = 6
# Labels of so many are made together, so that none is given twice; of more, each by itself.
_MOST_TOGETHER = 2_000
_KEPT_WIDTHS = 8


class Labelled(Protocol):
    """What a label tells of: a kernel group, a launch, a kernel of two profiles."""

    @property
    def name(self) -> str:
        """The full name."""

    @property
    def grid(self) -> Dimensions:
        """In blocks; None where it is not known or not shared."""

    @property
    def block(self) -> Dimensions:
        """In threads."""

    @property
    def process(self) -> int | None:
        """None where launches of several are one group."""

    @property
    def device(self) -> int | None:
        """Its number in the process."""


class KernelLabels:
    """The labels of all groups of a list; each is made when it is asked for.

    Parameters
    ----------
    groups : all that the labels have to tell apart.
    places : what a process and device are called; nothing where there is only one.
    """

    def __init__(self, groups: Sequence[Labelled], places: Mapping[Place, str]) -> None:
        self._groups = groups
        self._places = places
        self._of_name: dict[str, list[int]] = {}
        for index, group in enumerate(groups):
            self._of_name.setdefault(group.name, []).append(index)
        self._names = ShortNames(self._of_name)
        self._blocks: dict[str, tuple[frozenset[int], bool]] = {}
        self._together: OrderedDict[tuple[int | None, bool], list[str]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._groups)

    def label(self, index: int, room: int | None = None) -> str:
        """Return the label of a group in at most `room` columns, in as many as it takes if None.

        Different groups have different labels, unless there are thousands or hardly any room.
        """
        if len(self) > _MOST_TOGETHER:
            return _fitted(self._parts(index, room), room)
        key = (room, is_ascii())
        labels = self._together.pop(key, None)
        if labels is None:
            parts = [self._parts(each, room) for each in range(len(self))]
            labels = [_fitted(each, room) for each in _numbered(parts, room)]
        self._together[key] = labels
        while len(self._together) > _KEPT_WIDTHS:
            self._together.popitem(last=False)
        return labels[index]

    def _parts(self, index: int, room: int | None) -> tuple[str, str]:
        """Return the name, shortened, and the rest of the label."""
        group = self._groups[index]
        grid = "" if group.grid is None else f" {_text(group.grid)}"
        block = "" if group.block is None else f" [{_without_ones(group.block)}]"
        place = self._places.get((group.process, group.device), "")
        device = f" {place}" if place else ""
        is_needed, varies = self._blocks_of(group.name)
        rest = grid + (block if index in is_needed else "") + device
        left = None if room is None else max(room - len(rest), _LEAST_NAME)
        name = self._names.text(group.name, left, _mark())
        more = grid + block + device
        if varies and (room is None or len(name + more) <= room):
            rest = more
        return name, rest

    def _blocks_of(self, name: str) -> tuple[frozenset[int], bool]:
        """Return which groups of a name differ in the block alone, and whether any have other blocks."""
        if name not in self._blocks:
            launched: dict[tuple[object, ...], dict[tuple[int, int, int], list[int]]] = {}
            for index in self._of_name[name]:
                group = self._groups[index]
                if group.block is not None:
                    blocks = launched.setdefault((group.grid, group.process, group.device), {})
                    blocks.setdefault(group.block, []).append(index)
            several = [blocks.values() for blocks in launched.values() if len(blocks) > 1]
            needed = frozenset(index for of_blocks in several for found in of_blocks for index in found)
            varies = len({block for blocks in launched.values() for block in blocks}) > 1
            self._blocks[name] = needed, varies
        return self._blocks[name]


def _numbered(parts: list[tuple[str, str]], room: int | None) -> list[tuple[str, str]]:
    """Return the (name, rest) of labels; to the name of each that is there before a number is added."""
    taken = set(parts)
    if len(taken) == len(parts):
        return parts
    numbered, seen = [], dict.fromkeys(taken, 0)
    for name, rest in parts:
        number = seen[name, rest] = seen[name, rest] + 1
        other = name
        while number > 1 and (other, rest) in taken:
            end = f"~{number}"
            left = len(name) if room is None else room - len(rest) - len(end)
            other = name[: max(left, 1)] + end
            number += 1
        taken.add((other, rest))
        numbered.append((other, rest))
    return numbered


def _fitted(parts: tuple[str, str], room: int | None) -> str:
    label = printable("".join(parts))
    return label if room is None else cut(label, room, _mark())


def _mark() -> str:
    return ".." if is_ascii() else "…"


def _text(dimensions: tuple[int, int, int]) -> str:
    return "x".join(map(str, dimensions))


def _without_ones(dimensions: tuple[int, int, int]) -> str:
    """Return a block as it is mostly written: 256, 32x8."""
    return _text(dimensions).removesuffix("x1").removesuffix("x1")


Place = tuple[int | None, int | None]

_MOST_LINES = 8


def place_names(places: Iterable[Place]) -> dict[Place, str]:
    """Return a short name for every (process, device), none where there is only one.

    It is the number of the device, or of the process, where that alone tells them apart.

    >>> place_names([(111, 0), (112, 1)]), place_names([(0, 0), (1, 0)])
    ({(111, 0): 'gpu0', (112, 1): 'gpu1'}, {(0, 0): 'p0', (1, 0): 'p1'})
    """
    known = sorted({(one, other) for one, other in places if one is not None and other is not None})
    if len(known) < 2:
        return {}
    if len({device for _, device in known}) == len(known):
        return {place: f"gpu{place[1]}" for place in known}
    if len({process for process, _ in known}) == len(known):
        return {place: f"p{place[0]}" for place in known}
    return {place: f"p{place[0]} gpu{place[1]}" for place in known}


def place_lines(names: Mapping[Place, str], devices: Mapping[Place, str] | None = None) -> list[str]:
    """Return what each name stands for, the first few of many.

    Parameters
    ----------
    devices : the model of the GPU, where it is known.
    """
    devices = devices or {}
    lines = [
        f"{name}: process {process}, device {device}"
        + (f", {devices[process, device]}" if (process, device) in devices else "")
        for (process, device), name in names.items()
    ]
    more = len(lines) - _MOST_LINES
    if more > 1:
        lines[_MOST_LINES:] = [f"and {counted(more, 'more device')}: `kernelpoint info`"]
    return lines


_KEY = re.compile(r"(.*?)(?: <<<([\dx?]+), ([\dx?]+)>>>)?(?: process (\d+) device (\d+))?", re.DOTALL)


class Labels(Protocol):
    """One label a row."""

    def __len__(self) -> int: ...

    def fitted(self, number: int, room: int) -> str:
        """Return the label of a row in at most `room` columns."""


@dataclass(frozen=True, slots=True)
class RowLabels:
    """Labels of rows that are kernels or other things.

    Attributes
    ----------
    rows : what each row begins with, and the kernel that follows; None where it is all there is.
    """

    kernels: KernelLabels
    rows: Sequence[tuple[str, int | None]]

    def __len__(self) -> int:
        return len(self.rows)

    def fitted(self, number: int, room: int) -> str:
        """Return the label of a row in at most `room` columns."""
        text, kernel = self.rows[number]
        if kernel is not None:
            text += self.kernels.label(kernel, max(room - len(text), 1))
        return shortened(text, room)


@dataclass(frozen=True, slots=True)
class KeyParts:
    """What the key of a kernel group says; what it does not say is None."""

    name: str
    grid: Dimensions
    block: Dimensions
    process: int | None
    device: int | None


def key_parts(key: str) -> KeyParts:
    """Return the parts of a kernel group's key.

    >>> key_parts("f(int) <<<8x1x1, 64x1x1>>> process 0 device 1")
    KeyParts(name='f(int)', grid=(8, 1, 1), block=(64, 1, 1), process=0, device=1)
    """
    found = _KEY.fullmatch(key)
    if found is None:
        return KeyParts(key, None, None, None, None)
    name, grid, block, process, device = found.groups()
    return KeyParts(name, _sizes(grid), _sizes(block), _number(process), _number(device))


def row_labels(kernels: Iterable[Labelled], places: Mapping[Place, str]) -> RowLabels:
    """Return the labels of rows that are kernels, the same for equal ones.

    Parameters
    ----------
    places : what a process and device are called; nothing where there is only one.
    """
    index: dict[tuple[object, ...], int] = {}
    distinct: list[Labelled] = []
    rows: list[tuple[str, int | None]] = []
    for kernel in kernels:
        key = (kernel.name, kernel.grid, kernel.block, kernel.process, kernel.device)
        number = index.setdefault(key, len(distinct))
        if number == len(distinct):
            distinct.append(kernel)
        rows.append(("", number))
    return RowLabels(KernelLabels(distinct, places), rows)


def group_title(text: str, groups: Sequence[KernelGroup], index: int, width: int) -> str:
    """Return a text and a group's key in a row; where the key is too long, the group's label."""
    whole = printable(f"{text} {groups[index].key}")
    if len(whole) <= width:
        return whole
    labels = KernelLabels(groups, place_names((group.process, group.device) for group in groups))
    room = max(width - len(text) - 1, 1)
    return shortened(f"{text} {labels.label(index, room)}", width)


def _sizes(text: str | None) -> Dimensions:
    parts = () if text is None or "?" in text else tuple(map(int, text.split("x")))
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
