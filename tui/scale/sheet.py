"""The table of sizes of one benchmark as a person types it, and what is wrong with it.

Everything is frozen: every edit makes a new table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from scalemodel.inputs.question_file import ScaleQuestion
from scalemodel.measurements import (
    NUMBER_REMEDY,
    SIZE_REMEDY,
    WRONG_VALUE,
    Measurements,
    MpkiUnit,
    Scaling,
    wrong_ipc,
    wrong_size,
)

CELLS = ("size", "ipc", "mpki", "f_mem")
"""The columns to type in, by the names of their fields."""

ROLE, PEAK = "role", "peak"
"""What can be wrong beside the cells to type in: a row's role, and the peak of the sheet."""

_COLUMNS = {"ipc": "IPC", "mpki": "MPKI"}
_BLANK_ROWS = 4

Value = TypeVar("Value")


class Role(StrEnum):
    """What a row is there for.

    ``simulated``: a scale model. ``target``: to be predicted, and compared where it has an IPC. ``both``: a
    scale model that is asked for. ``curve``: neither; its MPKI, if there is one, is a point of the curve.
    """

    SIMULATED = "simulated"
    TARGET = "target"
    BOTH = "both"
    CURVE = "curve"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One system size, its values as typed.

    Attributes
    ----------
    size, ipc, mpki, f_mem : texts; empty where nothing is known.
    marked : its role, where the user or a file says it; None where it follows from the IPC.
    """

    size: str = ""
    ipc: str = ""
    mpki: str = ""
    f_mem: str = ""
    marked: Role | None = None

    @property
    def role(self) -> Role:
        """As marked; else a size with an IPC is simulated, and one without is asked for."""
        if self.marked is not None:
            return self.marked
        return Role.SIMULATED if self.ipc.strip() else Role.TARGET

    @property
    def is_blank(self) -> bool:
        """Whether nothing is typed: such a row is left out."""
        return not any(text.strip() for text in self.texts.values())

    @property
    def texts(self) -> Mapping[str, str]:
        """What is typed, by the names of `CELLS`."""
        return {"size": self.size, "ipc": self.ipc, "mpki": self.mpki, "f_mem": self.f_mem}

    @property
    def is_simulated(self) -> bool:
        """Whether it is a scale model."""
        return self.role in {Role.SIMULATED, Role.BOTH}

    @property
    def is_target(self) -> bool:
        """Whether it is asked for."""
        return self.role in {Role.TARGET, Role.BOTH}


@dataclass(frozen=True, slots=True)
class ScaleSheet:
    """The table of one benchmark.

    Attributes
    ----------
    rows : in the order shown; targets are predicted in it.
    name : the benchmark's, empty where it has none.
    scaling, mpki_unit : what the sizes and the MPKI mean.
    peak : peak IPC of an SM as typed, empty where it is not known.
    """

    rows: tuple[SheetRow, ...]
    name: str = ""
    scaling: Scaling = Scaling.STRONG
    mpki_unit: MpkiUnit = MpkiUnit.THREAD
    peak: str = ""

    def with_next_scaling(self) -> ScaleSheet:
        """Return the sheet with the next kind of scaling."""
        return replace(self, scaling=next_of(list(Scaling), self.scaling))

    def with_next_unit(self) -> ScaleSheet:
        """Return the sheet with the MPKI counted per instruction of the other unit."""
        return replace(self, mpki_unit=next_of(list(MpkiUnit), self.mpki_unit))

    def with_cell(self, row: int, cell: str, text: str) -> ScaleSheet:
        """Return the sheet with another text in a cell, which is one of `CELLS`."""
        change: dict[str, Any] = {cell: text.strip()}
        return self._with_row(row, replace(self.rows[row], **change))

    def with_role(self, row: int, role: Role | None) -> ScaleSheet:
        """Return the sheet with a row marked."""
        return self._with_row(row, replace(self.rows[row], marked=role))

    def with_new_row(self, place: int) -> ScaleSheet:
        """Return the sheet with a blank row that comes to stand at this place."""
        return replace(self, rows=(*self.rows[:place], SheetRow(), *self.rows[place:]))

    def without_row(self, row: int) -> ScaleSheet:
        """Return the sheet without a row."""
        return replace(self, rows=(*self.rows[:row], *self.rows[row + 1 :]))

    def _with_row(self, place: int, row: SheetRow) -> ScaleSheet:
        return replace(self, rows=(*self.rows[:place], row, *self.rows[place + 1 :]))


@dataclass(frozen=True, slots=True)
class WrongCell:
    """A cell that cannot be used.

    Attributes
    ----------
    row : its place, None for the peak, which is of the whole sheet.
    cell : one of `CELLS`, `ROLE` or `PEAK`.
    message, remedy : one sentence, and what to do.
    """

    row: int | None
    cell: str
    message: str
    remedy: str


def blank_sheet() -> ScaleSheet:
    """Return a sheet to type in."""
    return ScaleSheet((SheetRow(),) * _BLANK_ROWS)


def sheet_of(question: ScaleQuestion) -> ScaleSheet:
    """Return a question as a sheet, by ascending size, the roles marked where they would be others."""
    measurements = question.measurements
    sizes = sorted({*measurements.sizes, *question.targets})
    return ScaleSheet(
        tuple(_row(question, size) for size in sizes),
        measurements.name,
        measurements.scaling,
        measurements.mpki_unit,
        number_text(measurements.peak_ipc_per_sm),
    )


def number_text(value: float | None) -> str:
    """Return the shortest text that reads as this number; nothing for None."""
    return "" if value is None else repr(float(value)).removesuffix(".0")


def next_role(row: SheetRow) -> Role:
    """Return the role after a row's own, the first after the last; only what has an IPC can be simulated."""
    roles = list(Role) if row.ipc.strip() else [Role.TARGET, Role.CURVE]
    return next_of(roles, row.role) if row.role in roles else roles[0]


def next_of(values: Sequence[Value], value: Value) -> Value:
    """Return the value after this one, the first after the last."""
    return values[(values.index(value) + 1) % len(values)]


def place_text(sheet: ScaleSheet, wrong: WrongCell) -> str:
    """Return where a wrong cell is."""
    if wrong.row is None:
        return wrong.cell
    size = sheet.rows[wrong.row].size.strip()
    row = f"row {wrong.row + 1}, size {size}" if size else f"row {wrong.row + 1}"
    return f"{row}, {_COLUMNS.get(wrong.cell, wrong.cell)}"


def wrong_cells(sheet: ScaleSheet) -> tuple[WrongCell, ...]:
    """Return what is wrong, in reading order; blank rows are left out."""
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
        for cell in WRONG_VALUE:
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
        yield WrongCell(place, "size", f"a size is a whole number, {what}", SIZE_REMEDY)
        return
    wrong = wrong_size(size)
    if wrong is not None:
        yield WrongCell(place, "size", wrong, SIZE_REMEDY)
    elif size in places:
        message = f"size {size} is in row {places[size] + 1} already"
        yield WrongCell(place, "size", message, "keep one of the two")
    places.setdefault(size, place)


def _wrong_value(place: int | None, row: SheetRow, cell: str) -> Iterator[WrongCell]:
    text = row.texts[cell]
    try:
        value = number_in(text)
    except ValueError:
        yield WrongCell(place, cell, f"{text!r} is not a number", NUMBER_REMEDY)
        return
    wrong = None if value is None else WRONG_VALUE[cell](value)
    if wrong is not None:
        yield WrongCell(place, cell, wrong, "correct it, or empty the cell if it was not measured")


def _wrong_peak(sheet: ScaleSheet) -> Iterator[WrongCell]:
    try:
        peak = number_in(sheet.peak)
    except ValueError:
        yield WrongCell(None, PEAK, f"the peak IPC of an SM: {sheet.peak!r} is not a number", NUMBER_REMEDY)
        return
    wrong = None if peak is None else wrong_ipc(peak)
    if wrong is not None:
        yield WrongCell(None, PEAK, f"the peak IPC of an SM: {wrong}", "correct it, or leave it out")


def _row(question: ScaleQuestion, size: int) -> SheetRow:
    measurements = question.measurements
    row = SheetRow(
        str(size),
        number_text(measurements.ipc_at(size)),
        number_text(_mpki_at(measurements, size)),
        number_text(measurements.f_mem_at(size)),
    )
    role = _role(is_simulated=size in question.simulated, is_target=size in question.targets)
    return row if row.role is role else replace(row, marked=role)


def _mpki_at(measurements: Measurements, size: int) -> float | None:
    return measurements.mpki[measurements.sizes.index(size)] if size in measurements.sizes else None


def _role(*, is_simulated: bool, is_target: bool) -> Role:
    if is_simulated:
        return Role.BOTH if is_target else Role.SIMULATED
    return Role.TARGET if is_target else Role.CURVE
