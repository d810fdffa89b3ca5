"""The table of a scale-model prediction as a person types it: frozen, every edit makes a new one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from scalemodel.inputs.question_file import ScaleQuestion
from scalemodel.measurements import Measurements, MpkiUnit, Scaling
from scalemodel.prediction.interval import DEFAULT_CONFIDENCE
from scalemodel.prediction.rules import DEFAULT_RULE, RULES

CELLS = ("size", "ipc", "mpki", "f_mem")
"""The columns to type in, by the names of their fields."""

ALL_RULES = "all"
CONFIDENCES = (0.8, 0.9, 0.95)
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
        """Whether nothing is typed: such a row counts for nothing."""
        return not any((self.size.strip(), self.ipc.strip(), self.mpki.strip(), self.f_mem.strip()))

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
class HowToPredict:
    """What is asked of a sheet.

    Attributes
    ----------
    rule : a name of `scalemodel.prediction.rules.RULES`, or ``all``.
    confidence : one of `CONFIDENCES`.
    assume_f_mem : whether to give a point where f_mem is needed and not known.
    """

    rule: str = DEFAULT_RULE
    confidence: float = DEFAULT_CONFIDENCE
    assume_f_mem: bool = False


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
    return _next(roles, row.role) if row.role in roles else roles[0]


def next_rule(rule: str) -> str:
    """Return the rule after this one; all of them after the last."""
    return _next([*RULES, ALL_RULES], rule)


def next_confidence(confidence: float) -> float:
    """Return the level after this one, the least after the greatest."""
    return _next(list(CONFIDENCES), confidence)


def _next(values: list[Value], value: Value) -> Value:
    return values[(values.index(value) + 1) % len(values)]


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
