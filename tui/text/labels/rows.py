"""The last column of a table: labels that take the room which the figures leave."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sampling.reduction.grouping import KernelGroup
from tui.terminal.printable import printable
from tui.terminal.tables import shortened
from tui.text.labels.kernel_labels import Dimensions, KernelLabels, Labelled
from tui.text.labels.places import Place, place_names

_KEY = re.compile(r"(.*?)(?: <<<([\dx?]+), ([\dx?]+)>>>)?(?: process (\d+) device (\d+))?", re.DOTALL)


class Labels(Protocol):
    """One label a row."""

    def __len__(self) -> int: ...

    def fitted(self, number: int, room: int, *, ascii_only: bool) -> str:
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

    def fitted(self, number: int, room: int, *, ascii_only: bool) -> str:
        """Return the label of a row in at most `room` columns."""
        text, kernel = self.rows[number]
        if kernel is not None:
            text += self.kernels.label(kernel, max(room - len(text), 1), ascii_only=ascii_only)
        return shortened(text, room, ascii_only=ascii_only)


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


def group_title(text: str, groups: Sequence[KernelGroup], index: int, width: int, *, ascii_only: bool) -> str:
    """Return a text and a group's key in a row; where the key is too long, the group's label."""
    whole = printable(f"{text} {groups[index].key}", ascii_only=ascii_only)
    if len(whole) <= width:
        return whole
    labels = KernelLabels(groups, place_names((group.process, group.device) for group in groups))
    room = max(width - len(text) - 1, 1)
    return shortened(
        f"{text} {labels.label(index, room, ascii_only=ascii_only)}", width, ascii_only=ascii_only
    )


def _sizes(text: str | None) -> Dimensions:
    parts = () if text is None or "?" in text else tuple(map(int, text.split("x")))
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
