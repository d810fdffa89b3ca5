"""Labels of kernel groups: short names that keep what tells the groups of one list apart.

A label is the function's own name, those of its template arguments that tell it from others of the name, the
grid, the block where groups differ in it alone, and the device where there are several. Where the room is too
small for a long name, tiles, numbers and what differs stay, and a mark stands for what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from sampling.reduction.grouping import KernelGroup
from sampling.text import counted
from tui.terminal.printable import is_ascii, printable, shortened
from tui.text.short_names import ShortNames, cut

Dimensions = tuple[int, int, int] | None
Place = tuple[int | None, int | None]
"""A process and a device."""

_LEAST_NAME = 6
# Labels of so many are made together, so that none is given twice; of more, each by itself.
_MOST_TOGETHER = 2_000
_KEPT_WIDTHS = 8
_MOST_LINES = 8
_KEY = re.compile(r"(.*?)(?: <<<([\dx?]+), ([\dx?]+)>>>)?(?: process (\d+) device (\d+))?", re.DOTALL)


class Labelled(Protocol):
    """What a label tells of: a kernel group, a launch, a kernel of two profiles; None is not known."""

    @property
    def name(self) -> str: ...
    @property
    def grid(self) -> Dimensions: ...
    @property
    def block(self) -> Dimensions: ...
    @property
    def process(self) -> int | None: ...
    @property
    def device(self) -> int | None: ...


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
        self._together: dict[tuple[int | None, bool], list[str]] = {}

    def __len__(self) -> int:
        return len(self._groups)

    def label(self, index: int, room: int | None = None) -> str:
        """Return the label of a group in at most `room` columns, in as many as it takes if None.

        Different groups have different labels, unless there are thousands or hardly any room.
        """
        if len(self) > _MOST_TOGETHER:
            return _fitted(self._parts(index, room), room)
        key = (room, is_ascii())
        if key not in self._together:
            if len(self._together) == _KEPT_WIDTHS:
                self._together.clear()
            parts = [self._parts(each, room) for each in range(len(self))]
            self._together[key] = [_fitted(each, room) for each in _numbered(parts, room)]
        return self._together[key][index]

    def _parts(self, index: int, room: int | None) -> tuple[str, str]:
        """Return the name, shortened, and the rest of the label."""
        group = self._groups[index]
        grid = "" if group.grid is None else f" {'x'.join(map(str, group.grid))}"
        block = ""
        if group.block is not None:
            # As it is mostly written: 256, 32x8.
            block = f" [{'x'.join(map(str, group.block)).removesuffix('x1').removesuffix('x1')}]"
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
            launched: dict[tuple[object, ...], dict[Dimensions, list[int]]] = {}
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
    """Return what each name stands for and the model of the GPU where it is known, the first few of many."""
    lines = []
    for place, name in names.items():
        model = (devices or {}).get(place)
        lines.append(f"{name}: process {place[0]}, device {place[1]}" + (f", {model}" if model else ""))
    more = len(lines) - _MOST_LINES
    if more > 1:
        lines[_MOST_LINES:] = [f"and {counted(more, 'more device')}: `kernelpoint info`"]
    return lines


def labels_of_rows(
    kernels: KernelLabels, rows: Sequence[tuple[str, int | None]]
) -> Callable[[int, int], str]:
    """Return what makes the label of a row: its beginning, and the kernel that follows, None for none."""

    def label(number: int, room: int) -> str:
        text, kernel = rows[number]
        if kernel is not None:
            text += kernels.label(kernel, max(room - len(text), 1))
        return shortened(text, room)

    return label


def labels_of(kernels: Iterable[Labelled], places: Mapping[Place, str]) -> Callable[[int, int], str]:
    """Return what makes the labels of rows that are kernels, the same for equal ones."""
    index: dict[tuple[object, ...], int] = {}
    distinct: list[Labelled] = []
    rows: list[tuple[str, int | None]] = []
    for kernel in kernels:
        key = (kernel.name, kernel.grid, kernel.block, kernel.process, kernel.device)
        if key not in index:
            index[key] = len(distinct)
            distinct.append(kernel)
        rows.append(("", index[key]))
    return labels_of_rows(KernelLabels(distinct, places), rows)


def group_title(text: str, groups: Sequence[KernelGroup], index: int, width: int) -> str:
    """Return a text and a group's key in a row; where the key is too long, the group's label."""
    whole = printable(f"{text} {groups[index].key}")
    if len(whole) <= width:
        return whole
    labels = KernelLabels(groups, place_names((group.process, group.device) for group in groups))
    return shortened(f"{text} {labels.label(index, max(width - len(text) - 1, 1))}", width)


class KeyParts(NamedTuple):
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
    place = (None, None) if process is None else (int(process), int(device))
    return KeyParts(name, _sizes(grid), _sizes(block), *place)


def _sizes(text: str | None) -> Dimensions:
    parts = () if text is None or "?" in text else tuple(map(int, text.split("x")))
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
