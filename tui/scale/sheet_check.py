"""Which cells of a scale sheet are wrong, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from scalemodel.measurements import wrong_f_mem, wrong_ipc, wrong_mpki, wrong_size
from tui.scale.sheet import ScaleSheet, SheetRow

ROLE, PEAK = "role", "peak"
"""What can be wrong beside the cells to type in: a row's role, and the peak of the sheet."""

_VALUES: Mapping[str, Callable[[float], str | None]] = {
    "ipc": wrong_ipc,
    "mpki": wrong_mpki,
    "f_mem": wrong_f_mem,
}
_COUNT = "count SMs or chiplets"
_DECIMAL = "write it with a decimal point, without units"


@dataclass(frozen=True, slots=True)
class WrongCell:
    """A cell that cannot be used.

    Attributes
    ----------
    row : its place, None for what is of the whole sheet.
    cell : one of `tui.scale.sheet.CELLS`, `ROLE` or `PEAK`.
    message, remedy : one sentence, and what to do.
    """

    row: int | None
    cell: str
    message: str
    remedy: str


def wrong_cells(sheet: ScaleSheet) -> tuple[WrongCell, ...]:
    """Return what is wrong, in reading order; blank rows count for nothing."""
    return tuple(_wrong(sheet))


def number_in(text: str) -> float | None:
    """Return the number of a cell, None where it is empty.

    Raises
    ------
    ValueError : it is no number.
    """
    return float(text) if text.strip() else None


def size_in(row: SheetRow) -> int | None:
    """Return the size of a row, None where there is none that can be used."""
    try:
        size = int(row.size)
    except ValueError:
        return None
    return size if wrong_size(size) is None else None


def _wrong(sheet: ScaleSheet) -> Iterator[WrongCell]:
    models = [size for row in sheet.rows if row.is_simulated and (size := size_in(row)) is not None]
    largest = max(models, default=0)
    places: dict[int, int] = {}
    for place, row in enumerate(sheet.rows):
        if row.is_blank:
            continue
        yield from _wrong_size(place, row, places)
        for cell in _VALUES:
            yield from _wrong_value(place, row, cell)
        if row.is_simulated and not row.ipc.strip():
            yield WrongCell(place, "ipc", "a simulated size has no IPC", "give it, or mark the row otherwise")
        size = size_in(row)
        if row.is_target and size is not None and size < largest:
            message = f"a target of {size} is below the largest simulated size, {largest}"
            yield WrongCell(place, ROLE, message, "mark it as simulated, or as a point of the curve")
    yield from _wrong_peak(sheet)


def _wrong_size(place: int, row: SheetRow, places: dict[int, int]) -> Iterator[WrongCell]:
    """Yield what is wrong with a size; ``places`` are those of the sizes above it, and gets its own."""
    try:
        size = int(row.size)
    except ValueError:
        what = f"not {row.size!r}" if row.size.strip() else "and here is none"
        yield WrongCell(place, "size", f"a size is a whole number, {what}", _COUNT)
        return
    wrong = wrong_size(size)
    if wrong is not None:
        yield WrongCell(place, "size", wrong, _COUNT)
    elif size in places:
        message = f"size {size} is in row {places[size] + 1} already"
        yield WrongCell(place, "size", message, "keep one of the two")
    places.setdefault(size, place)


def _wrong_value(place: int | None, row: SheetRow, cell: str) -> Iterator[WrongCell]:
    text: str = getattr(row, cell)
    try:
        value = number_in(text)
    except ValueError:
        yield WrongCell(place, cell, f"{text!r} is not a number", _DECIMAL)
        return
    wrong = None if value is None else _VALUES[cell](value)
    if wrong is not None:
        yield WrongCell(place, cell, wrong, "correct it, or empty the cell if it was not measured")


def _wrong_peak(sheet: ScaleSheet) -> Iterator[WrongCell]:
    try:
        peak = number_in(sheet.peak)
    except ValueError:
        yield WrongCell(None, PEAK, f"the peak IPC of an SM: {sheet.peak!r} is not a number", _DECIMAL)
        return
    wrong = None if peak is None else wrong_ipc(peak)
    if wrong is not None:
        yield WrongCell(None, PEAK, f"the peak IPC of an SM: {wrong}", "correct it, or leave it out")
