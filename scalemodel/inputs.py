"""What a prediction is asked with: tables of benchmarks, questions in TOML, and files of a miss-rate curve.

**Benchmarks** are a CSV, a row for each benchmark and size: columns ``benchmark,size,ipc`` and, where
known, ``mpki,f_mem,scaling,mpki_unit``, in any order; an empty cell is not known. The two smallest sizes of
a benchmark are its scale models, all larger ones targets.

**A question** in TOML says what the options of the command say, all but ``[ipc]`` optional::

    name = "dct"
    scaling = "strong"          # strong (default), weak or chiplet
    mpki_unit = "thread"        # thread (default) or warp
    peak_ipc_per_sm = 64.0
    f_mem = 0.52                # a fraction, of the largest scale model
    simulated = [8, 16]         # the scale models; all sizes of [ipc] where left out
    targets = [32, 64, 128]     # or left out: sizes of [ipc] above `simulated`, else the asker names them

    [ipc]                       # size = instructions per cycle
    8 = 112.7
    16 = 226.4

    [mpki]                      # size = misses per thousand instructions, the targets' too
    8 = 6.17
    128 = 0.10

**A curve** is a CSV with columns ``size,mpki`` and, where known, ``unit,low,high,line_bytes``: the system
whose last-level cache is meant, whose instructions are counted, the sampling error, what one miss fetches.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

import msgspec

from sampling.errors import OptionError, ProfileError
from sampling.readers.small_file import CORRECT, parsed_toml, read_text
from scalemodel.measurements import (
    NUMBER_REMEDY,
    SIZE_REMEDY,
    WRONG_VALUE,
    Measurements,
    MpkiUnit,
    Scaling,
    wrong_mpki,
    wrong_size,
)

Choice = TypeVar("Choice", bound=StrEnum)
#: Called with a sentence for each thing that a reader leaves out.
Tell = Callable[[str], None]

_MEASUREMENTS = "a CSV with columns benchmark, size and ipc, or a TOML with a table [ipc]"


# -- a table ----------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    path: str
    row: int  #: from 1
    cells: dict[str, str]

    def error(self, message: str, column: str, remedy: str) -> ProfileError:
        return ProfileError(message, path=self.path, row=self.row, column=column, remedy=remedy)

    def number(self, column: str, wrong_value: Callable[[float], str | None], remedy: str) -> float:
        """Return the number in a cell; ProfileError where there is none, or one out of range."""
        cell = self.cells[column]
        try:
            value = float(cell)
            wrong = wrong_value(value)
        except ValueError:
            wrong = f"{cell!r} is not a number"
        if wrong is not None:
            raise self.error(wrong, column, remedy)
        return value

    def choice(self, column: str, choices: type[Choice]) -> Choice | None:
        """Return one of some words, None where the cell is empty or not there."""
        cell = self.cells.get(column, "").casefold()
        if cell and cell not in list(choices):
            raise self.error(f"{cell!r} is not known", column, f"write one of {', '.join(choices)}")
        return choices(cell) if cell else None


def _table(text: str, path: str, required: Sequence[str], remedy: str) -> tuple[list[str], list[_Row]]:
    """Return the columns and the rows of a CSV that are not blank, cells without blanks around them."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    rows = []
    try:
        for fields in reader:
            cells, number = [cell.strip() for cell in fields], reader.line_num
            if not any(cells):
                continue
            if not header:
                header = [cell.casefold() for cell in cells]
                wrong = [f"no column {name}" for name in required if name not in header]
                wrong += [f"two columns {name}" for name in header if name and header.count(name) > 1]
                if wrong:
                    raise ProfileError(wrong[0], path=path, row=number, remedy=remedy)
            elif len(cells) != len(header):
                fix = "leave the cell of what was not measured empty, and write numbers with a decimal point"
                message = f"{len(cells)} cells where the header has {len(header)}"
                raise ProfileError(message, path=path, row=number, remedy=fix)
            else:
                rows.append(_Row(path, number, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        message, row = f"not a CSV ({error})", reader.line_num
        raise ProfileError(message, path=path, row=row, remedy="check the quotes there") from error
    if not rows:
        raise ProfileError("no row of measurements", path=path, remedy="give a row for each size")
    return header, rows


# -- a table of benchmarks --------------------------------------------------------------------------------

_REQUIRED = ("benchmark", "size", "ipc")
_CHOICES: dict[str, type[StrEnum]] = {"scaling": Scaling, "mpki_unit": MpkiUnit}
_OPTIONAL = ("mpki", "f_mem", *_CHOICES)


def _benchmarks(
    text: str,
    path: str,
    benchmark: str | None,
    scaling: Scaling | None,
    mpki_unit: MpkiUnit | None,
    tell: Tell | None,
) -> Iterator[Measurements]:
    """Yield the benchmarks of a table in the order in which they first come, or the one that is named."""
    columns = f"give the columns {','.join(_REQUIRED)} and, where known, {','.join(_OPTIONAL)}, once each"
    header, rows = _table(text, path, _REQUIRED, columns)
    tell = tell or (lambda _: None)
    if stray := [name or "without a name" for name in header if name not in (*_REQUIRED, *_OPTIONAL)]:
        tell(f"{path}: not read: column{'s' if len(stray) > 1 else ''} {', '.join(dict.fromkeys(stray))}")
    rows_by_name: dict[str, list[_Row]] = {}
    for row in rows:
        rows_by_name.setdefault(row.cells["benchmark"], []).append(row)
    measured = {name: _measured(name, group, scaling, mpki_unit) for name, group in rows_by_name.items()}
    if benchmark is not None and benchmark not in measured:
        message = f"{path} has no benchmark {benchmark!r}"
        raise OptionError(message, remedy=f"name one of {', '.join(measured)}")
    names, left_out = [*measured] if benchmark is None else [benchmark], []
    for name in names:
        if (sizes := len(measured[name].ipc)) < 2:
            message = f"{name} has an IPC at {'one size alone' if sizes else 'no size'}, which shows no trend"
            left_out.append(rows_by_name[name][-1].error(message, "ipc", "give two sizes or more"))
    if len(left_out) == len(names):
        raise left_out[0]
    for wrong in left_out:
        tell(f"left out: {wrong}")
    yield from (measured[name] for name in names if len(measured[name].ipc) >= 2)


def _measured(
    name: str, rows: Sequence[_Row], scaling: Scaling | None, mpki_unit: MpkiUnit | None
) -> Measurements:
    """Return what the rows of a benchmark say; ProfileError: one is wrong, or other than those before."""
    values: dict[str, dict[int, float]] = {column: {} for column in WRONG_VALUE}
    choices: dict[str, StrEnum] = {}
    correct = f"correct it, {NUMBER_REMEDY}, or leave the cell empty if it was not measured"
    for row in rows:
        cells, size = row.cells, int(row.number("size", wrong_size, SIZE_REMEDY))
        wrong, column = None, "size"
        if not name:
            wrong, column = "no benchmark is named", "benchmark"
        elif not (cells["ipc"] or cells.get("mpki")):
            wrong, column = "neither an IPC nor an MPKI", "ipc"
        elif size in values["ipc"] or size in values["mpki"]:
            wrong = f"{name} has size {size} already"
        for column_name, kind in _CHOICES.items():
            choice = row.choice(column_name, kind)
            if choice and choices.setdefault(column_name, choice) is not choice:
                wrong, column = f"{name} has {choice} here and {choices[column_name]} above", column_name
        if wrong is not None:
            raise row.error(wrong, column, "correct it, or drop the row")
        for column_name, wrong_value in WRONG_VALUE.items():
            if cells.get(column_name):
                values[column_name][size] = row.number(column_name, wrong_value, correct)
    unit = mpki_unit or MpkiUnit(choices.get("mpki_unit", MpkiUnit.THREAD))
    kind_of = scaling or Scaling(choices.get("scaling", Scaling.STRONG))
    columns = (values["ipc"], values["mpki"], values["f_mem"])
    return Measurements(name, *columns, mpki_unit=unit, scaling=kind_of)


# -- a question -------------------------------------------------------------------------------------------


class ScaleQuestion(NamedTuple):
    """What a file asks: of a benchmark, sizes of its scale models, ascending, and sizes to predict."""

    measurements: Measurements
    simulated: tuple[int, ...]
    targets: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """All sizes that are measured or asked for, ascending."""
        return tuple(sorted({*self.measurements.sizes, *self.targets}))

    def with_value(self, size: int, kind: str, value: float | None) -> ScaleQuestion:
        """Return it with another value of a kind of `WRONG_VALUE` at a size; None: it is not known.

        Raises OptionError: the value is out of its range.
        """
        values = dict(getattr(self.measurements, kind))
        values.pop(size, None)
        changes: dict[str, Any] = {kind: values if value is None else {**values, size: value}}
        return self._replace(measurements=replace(self.measurements, **changes))

    def with_size(self, old: int, new: int) -> ScaleQuestion:
        """Return it with another size in place of one; OptionError where that is there, or is no size."""
        if wrong := wrong_size(new):
            raise OptionError(wrong, remedy=SIZE_REMEDY)
        if new in self.sizes and new != old:
            raise OptionError(f"size {new} is there already", remedy="give each size once")
        columns: dict[str, Any] = {
            kind: {
                new if size == old else size: value
                for size, value in getattr(self.measurements, kind).items()
            }
            for kind in WRONG_VALUE
        }
        simulated, targets = (
            tuple(sorted(new if size == old else size for size in sizes))
            for sizes in (self.simulated, self.targets)
        )
        return ScaleQuestion(replace(self.measurements, **columns), simulated, targets)

    def toml(self) -> str:
        """Return it as a TOML; of f_mem that of the largest scale model, which alone counts."""
        measurements = self.measurements
        f_mem = measurements.f_mem.get(max(self.simulated, default=0))
        lines = [
            f"name = {_toml_text(measurements.name)}",
            f'scaling = "{measurements.scaling}"  # {", ".join(Scaling)}',
            f'mpki_unit = "{measurements.mpki_unit}"  # {", ".join(MpkiUnit)} instructions',
            _toml_number("peak_ipc_per_sm", measurements.peak_ipc_per_sm, "the most an SM can do in a cycle"),
            _toml_number("f_mem", f_mem, "of the largest scale model, a fraction"),
            f"simulated = {list(self.simulated)}  # the scale models",
            f"targets = {list(self.targets)}  # sizes to predict",
        ]
        comments = {"ipc": "size = instructions per cycle", "mpki": "size = misses per thousand instructions"}
        for kind, comment in comments.items():
            values = sorted(getattr(measurements, kind).items())
            lines += ["", f"[{kind}]  # {comment}", *(f"{size} = {value!r}" for size, value in values)]
        return "\n".join(lines) + "\n"


def _toml_text(text: str) -> str:
    # JSON leaves the one control character as it is that TOML does not.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_number(key: str, value: float | None, comment: str) -> str:
    return f"# {key} =  # {comment}" if value is None else f"{key} = {value!r}  # {comment}"


class _Toml(msgspec.Struct, forbid_unknown_fields=True):
    """A question as a person writes it."""

    ipc: dict[int, float] = {}
    mpki: dict[int, float] = {}
    name: str = ""
    scaling: Scaling = Scaling.STRONG
    mpki_unit: MpkiUnit = MpkiUnit.THREAD
    peak_ipc_per_sm: float | None = None
    f_mem: float | None = None
    simulated: list[int] = []
    targets: list[int] = []


def read_questions(
    path: str,
    *,
    benchmark: str | None = None,
    scaling: Scaling | None = None,
    mpki_unit: MpkiUnit | None = None,
    tell: Tell | None = None,
) -> tuple[ScaleQuestion, ...]:
    """Return the question of a TOML, or of a CSV one for each benchmark; which it is, its content says.

    Parameters
    ----------
    benchmark : the only one of a CSV to ask for; all where None.
    path : gzip or not; "-" for standard input.
    scaling, mpki_unit : instead of what the file says; strong and thread where nothing says it.
    tell : is told what is left out of a CSV: columns, and benchmarks with an IPC at fewer than two sizes.

    Raises ProfileError: the file cannot be read, or a value in it is wrong, or no benchmark has an IPC at two
    sizes; OptionError: the benchmark is not in the CSV.
    """
    text = read_text(path, meant=_MEASUREMENTS)
    header = next(line for line in text.splitlines() if line.strip())
    if ("," in header or ";" in header) and "=" not in header:
        questions = []
        for measurements in _benchmarks(text, path, benchmark, scaling, mpki_unit, tell):
            pair = measurements.simulated_sizes[:2]
            targets = tuple(size for size in measurements.sizes if size > pair[1])
            questions.append(ScaleQuestion(measurements, pair, targets))
        return tuple(questions)
    return (parse_question(text, path, scaling=scaling, mpki_unit=mpki_unit),)


def parse_question(
    text: str, path: str, *, scaling: Scaling | None = None, mpki_unit: MpkiUnit | None = None
) -> ScaleQuestion:
    """Return the question that a TOML asks, see `read_questions`; a path for messages.

    Raises ProfileError: it is no TOML of a question, or a value in it is wrong.
    """
    document = parsed_toml(text, path, _Toml, meant=_MEASUREMENTS)
    models = tuple(sorted(document.simulated or document.ipc))
    wrong = None
    for key, sizes in (("simulated", document.simulated), ("targets", document.targets)):
        if len(set(sizes)) < len(sizes):
            wrong = key, "a size is named twice"
        elif out_of_range := next(filter(None, map(wrong_size, sizes)), None):
            wrong = key, out_of_range
    if missing := [size for size in models if size not in document.ipc]:
        wrong = "simulated", f"size {missing[0]} has no IPC"
    elif len(models) < 2:
        wrong = "ipc", f"an IPC at {'one size alone' if models else 'no size'} shows no trend"
    if wrong is not None:
        raise ProfileError(wrong[1], path=path, key=wrong[0], remedy="correct it there")
    f_mem = {} if document.f_mem is None else {models[-1]: document.f_mem}
    peak, unit, kind = document.peak_ipc_per_sm, mpki_unit or document.mpki_unit, scaling or document.scaling
    try:
        measurements = Measurements(document.name, document.ipc, document.mpki, f_mem, peak, unit, kind)
    except OptionError as error:
        raise ProfileError(error.message, path=path, remedy=error.remedy or CORRECT) from error
    targets = tuple(document.targets) or measured_above(measurements, models)
    return ScaleQuestion(measurements, models, targets)


def measured_above(measurements: Measurements, models: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes with an IPC above the scale models: targets where none is named."""
    return tuple(size for size in measurements.simulated_sizes if size > max(models, default=0))


# -- a curve ----------------------------------------------------------------------------------------------

#: What to do about a curve that cannot be read; a front door may say how it makes one.
GIVE_CURVE = "make the curve with a system size for each capacity and the `instructions` of the trace"


class CurvePoints(NamedTuple):
    """A miss-rate curve over system sizes."""

    #: (size, MPKI), in the file's order, and (size, low, high) of each that has a sampling error.
    mpki: tuple[tuple[int, float], ...]
    bounds: tuple[tuple[int, float, float], ...]
    #: Whose instructions the MPKI counts, and bytes that one miss fetches; None where the file says neither.
    unit: MpkiUnit | None
    line_bytes: int | None


def read_curve_points(path: str) -> CurvePoints:
    """Return the points of a CSV, gzip or not; "-" is standard input.

    Raises ProfileError: it cannot be read, lacks a column, or a row is wrong.
    """
    _, rows = _table(read_text(path, meant=_MEASUREMENTS), path, ("size", "mpki"), GIVE_CURVE)
    points, bounds = [], []
    for row in rows:
        size = int(row.number("size", wrong_size, GIVE_CURVE))
        mpki = row.number("mpki", wrong_mpki, GIVE_CURVE)
        points.append((size, mpki))
        if row.cells.get("low") and row.cells.get("high"):
            drop = "give its sampling error, or drop both columns"
            low, high = (row.number(key, wrong_mpki, drop) for key in ("low", "high"))
            if not low <= mpki <= high:
                message = f"the MPKI of {mpki:g} is not from {low:g} to {high:g}"
                raise row.error(message, "low" if low > mpki else "high", drop)
            bounds += [(size, low, high)] if low < high else []
        for column in ("unit", "line_bytes"):
            if row.cells.get(column) != rows[0].cells.get(column):
                raise row.error(f"rows differ in their {column}", column, "count all misses in one")
    line_bytes = None
    if rows[0].cells.get("line_bytes"):
        power = "write the bytes of a line, a power of two"
        line_bytes = int(rows[0].number("line_bytes", _wrong_line, power))
    return CurvePoints(tuple(points), tuple(bounds), rows[0].choice("unit", MpkiUnit), line_bytes)


def _wrong_line(size: float) -> str | None:
    is_power = wrong_size(size) is None and int(size).bit_count() == 1
    return None if is_power else f"{size:.12g} is no line size"
