"""What a prediction is asked with: tables of benchmarks, questions in TOML, and files of a miss-rate curve.

**Benchmarks** are a CSV, a row for each benchmark and size: columns ``benchmark,size,ipc`` and, where
known, ``mpki,f_mem,scaling,mpki_unit``, in any order. An empty cell is not known: a row may hold the MPKI
alone. The two smallest sizes of a benchmark are its scale models, all larger ones targets.

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
import gzip
import io
import re
import sys
import tomllib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from scalemodel.errors import InputError, OptionError, Place, nearest
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
Document = TypeVar("Document", bound=msgspec.Struct)
#: Called with a sentence for each thing that a reader leaves out.
Tell = Callable[[str], None]

# A table of many thousand benchmarks is smaller; what inflates to more is no input of ours.
_MOST_BYTES = 64 << 20
# What a person writes is far below; tomllib takes the square of the time for the parts of a key.
_MOST_TOML_CHARACTERS = 1 << 14
_CORRECT = "correct it, or leave it out if it is not known"
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


# -- a small file: its text, its rows, its keys -----------------------------------------------------------


def read_text(path: str, *, meant: str = "a CSV or TOML with measurements") -> str:
    """Return the whole text of a file, gzip or not, its line ends as they are; "-" is standard input.

    Raises InputError: it cannot be read, is empty, damaged, too large, or not text; the remedy asks for what
    is ``meant``.
    """
    place, give = Place(path), f"give {meant}"
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if content.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(content)) as stream:
                content = stream.read(_MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the gzip data is cut short or damaged ({error})"
        raise InputError(what, place, remedy="copy the file again") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, place, remedy="check the path") from error
    except UnicodeDecodeError as error:
        raise InputError("not text in UTF-8", place, remedy=give) from error
    if len(content) > _MOST_BYTES:
        raise InputError(f"more than {_MOST_BYTES:,} bytes, where a small file is meant", place, remedy=give)
    if not text.strip():
        raise InputError("the file is empty", place, remedy=give)
    return text


def written_name(path: str | Path, *, of_stdin: str) -> str:
    """Return the name, without folders, of a plain text file made from the one read, or from stdin."""
    return of_stdin if str(path) == "-" else Path(path).name.removesuffix(".gz")


def parsed_toml(
    text: str, path: str, kind: type[Document], known: Sequence[str], *, or_else: str, meant: str
) -> Document:
    """Return the keys and values of a TOML as a record.

    Parameters
    ----------
    known : the names of its keys and tables, for the remedy where one is not known.
    or_else : the other kind of file this may be; named where the file's name does not end in ``.toml``.
    meant : what the remedy then asks for.

    Raises
    ------
    InputError : the text is no TOML, larger than any that a person writes, or not as the record wants it.
    """
    if len(text) > _MOST_TOML_CHARACTERS:
        what = f"{len(text):,} characters, where a TOML of at most {_MOST_TOML_CHARACTERS:,} is read"
        raise InputError(what, Place(path), remedy="give measurements as a CSV, or in several files")
    try:
        return msgspec.convert(tomllib.loads(text), kind, str_keys=True)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        key, remedy = re.sub(r"[`$]|\[[^\]]*\]", "", where).removeprefix("."), _CORRECT
        if stray := re.search(r"unknown field `(.*)`", what, re.DOTALL):
            key = stray[1]
            what, remedy = f"no key {key!r} is known", nearest(key, known)
        elif missing := re.search(r"required field `(.*)`", what):
            what, remedy = f"{missing[1]} is missing", "state it"
        last = re.escape(key.rpartition(".")[2])
        line = re.search(rf"^[ \t]*\[?[ \t]*{last}[ \t]*[=\].]", text, re.MULTILINE)
        row = None if line is None or not key else text.count("\n", 0, line.start()) + 1
        raise InputError(what.replace("`", ""), Place(path, row, key=key or None), remedy=remedy) from error
    except (ValueError, RecursionError) as error:  # numbers and nesting beyond Python's own limits too
        what, remedy = f"neither {or_else} nor a TOML ({error})", f"give {meant}"
        if path.casefold().removesuffix(".gz").endswith(".toml"):
            what, remedy = f"not a TOML: {error}", "correct it there"
        found = _TOML_PLACE.search(str(error))
        place = Place(path, None if found is None else int(found[1]))
        raise InputError(what, place, remedy=remedy) from error


def _table(text: str, path: str, required: Sequence[str], remedy: str) -> tuple[list[str], list[_Row]]:
    """Return the columns and the rows of a CSV that are not blank, cells without blanks around them."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    rows = []
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if not any(stripped):
                continue
            place = Place(path, reader.line_num)
            if not header:
                header = [cell.casefold() for cell in stripped]
                missing = [f"no column {name}" for name in required if name not in header]
                twice = [f"two columns {name}" for name in header if name and header.count(name) > 1]
                if wrong := missing or twice:
                    raise InputError(wrong[0], place, remedy=remedy)
            elif len(cells) != len(header):
                count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
                what = f"{count} where the header has {len(header)}"
                fix = "leave the cell of what was not measured empty, and write numbers with a decimal point"
                raise InputError(what, place, remedy=fix)
            else:
                rows.append(_Row(place, dict(zip(header, stripped, strict=True))))
    except csv.Error as error:
        place = Place(path, reader.line_num)
        raise InputError(f"not a CSV ({error})", place, remedy="check the quotes there") from error
    return header, rows


class _Row(NamedTuple):
    place: Place
    cells: dict[str, str]

    def number(self, column: str, wrong_value: Callable[[float], str | None], remedy: str) -> float:
        """Return the number in a cell; InputError where there is none, or one out of range."""
        cell = self.cells[column]
        try:
            value = float(cell)
            wrong = wrong_value(value)
        except ValueError:
            wrong = f"{cell!r} is not a number" if cell else "nothing where a number is needed"
        if wrong is not None:
            raise InputError(wrong, self.place.in_column(column), remedy=remedy)
        return value

    def choice(self, column: str, choices: type[Choice]) -> Choice | None:
        """Return one of some words, None where the cell is empty or not there."""
        cell = self.cells.get(column, "").casefold()
        if cell and cell not in list(choices):
            remedy = f"write one of {', '.join(choices)}"
            raise InputError(f"{cell!r} is not known", self.place.in_column(column), remedy=remedy)
        return choices(cell) if cell else None


# -- a table of benchmarks --------------------------------------------------------------------------------

_REQUIRED = ("benchmark", "size", "ipc")
_OPTIONAL = ("mpki", "f_mem", "scaling", "mpki_unit")
_CHOICES: dict[str, type[StrEnum]] = {"scaling": Scaling, "mpki_unit": MpkiUnit}


@dataclass(frozen=True, slots=True)
class _Found:
    """What the rows of a benchmark say: where each size is, values by column and size, choices."""

    rows: dict[int, Place] = field(default_factory=dict)
    values: dict[str, dict[int, float]] = field(default_factory=lambda: {name: {} for name in WRONG_VALUE})
    choices: dict[str, tuple[StrEnum, Place]] = field(default_factory=dict)

    def take(self, name: str, size: int, row: _Row) -> None:
        """Add what a row says; InputError where that is wrong, or other than what the rows before say."""
        correct = f"correct it, {NUMBER_REMEDY}, or leave the cell empty if it was not measured"
        for column, wrong_value in WRONG_VALUE.items():
            if row.cells.get(column):
                self.values[column][size] = row.number(column, wrong_value, correct)
        for column, kind in _CHOICES.items():
            choice = row.choice(column, kind)
            first, where = self.choices.get(column, (choice, row.place))
            if choice is not None and first is not choice:
                what = f"{name} has {choice} here and {first} in row {where.row}"
                remedy = "give a benchmark one, or two benchmarks two names"
                raise InputError(what, row.place.in_column(column), remedy=remedy)
            if choice is not None:
                self.choices.setdefault(column, (choice, row.place))


def read_benchmarks(
    path: str,
    *,
    scaling: Scaling | None = None,
    mpki_unit: MpkiUnit | None = None,
    tell: Tell | None = None,
) -> tuple[Measurements, ...]:
    """Return the benchmarks of a CSV, gzip or not, in the order in which they first come.

    Parameters
    ----------
    path : "-" is standard input.
    scaling, mpki_unit : instead of what the file says; strong and thread where nothing says it.
    tell : is told what is left out: columns, and benchmarks with an IPC at fewer than two sizes.

    Raises InputError: it cannot be read, lacks a column, or a row is wrong; or no benchmark has an IPC at
    two sizes.
    """
    return _benchmarks(read_text(path), path, None, scaling, mpki_unit, tell)


def _benchmarks(
    text: str,
    path: str,
    benchmark: str | None,
    scaling: Scaling | None,
    mpki_unit: MpkiUnit | None,
    tell: Tell | None,
) -> tuple[Measurements, ...]:
    """Return the benchmarks of a table, or the one that is named."""
    there = _by_benchmark(text, path, tell)
    if benchmark is not None and benchmark not in there:
        what = f"{path} has no benchmark {benchmark!r}"
        raise OptionError(what, remedy=f"name one of {', '.join(there)}")
    found, left_out = [], []
    for name in there if benchmark is None else [benchmark]:
        of, ipc = there[name], there[name].values["ipc"]
        if len(ipc) < 2:
            what = f"{name} has an IPC at {'one size alone' if ipc else 'no size'}, which shows no trend"
            last = list(of.rows.values())[-1].in_column("ipc")
            left_out.append(InputError(what, last, remedy="give two sizes or more"))
            continue
        said = {column: choice.value for column, (choice, _) in of.choices.items()}
        unit = mpki_unit or MpkiUnit(said.get("mpki_unit", MpkiUnit.THREAD))
        kind = scaling or Scaling(said.get("scaling", Scaling.STRONG))
        columns = (ipc, of.values["mpki"], of.values["f_mem"])
        found.append(Measurements(name, *columns, mpki_unit=unit, scaling=kind))
    if not found:
        raise left_out[0]
    if tell is not None:
        for wrong in left_out:
            tell(f"left out: {wrong}")
    return tuple(found)


def _by_benchmark(text: str, path: str, tell: Tell | None) -> dict[str, _Found]:
    columns = f"give the columns {','.join(_REQUIRED)} and, where known, {','.join(_OPTIONAL)}, once each"
    header, rows = _table(text, path, _REQUIRED, columns)
    stray = [name for name in dict.fromkeys(header) if name not in (*_REQUIRED, *_OPTIONAL)]
    if stray and tell is not None:
        shown = ", ".join(name or "without a name" for name in stray)
        tell(f"{path}: not read: column{'s' if len(stray) > 1 else ''} {shown}")
    found: dict[str, _Found] = {}
    for row in rows:
        place, cells = row
        name, size = cells["benchmark"], int(row.number("size", wrong_size, SIZE_REMEDY))
        if not name:
            raise InputError("no benchmark is named", place.in_column("benchmark"), remedy="name it")
        if not (cells["ipc"] or cells.get("mpki")):
            raise InputError("neither an IPC nor an MPKI", place, remedy="give one of them, or drop the row")
        of = found.setdefault(name, _Found())
        if of.rows.setdefault(size, place) is not place:
            what = f"{name} has size {size} already, in row {of.rows[size].row}"
            raise InputError(what, place.in_column("size"), remedy="keep one of the two")
        of.take(name, size, row)
    if not found:
        remedy = "give a row for each benchmark and size"
        raise InputError("no row of measurements", Place(path), remedy=remedy)
    return found


# -- a question -------------------------------------------------------------------------------------------


class ScaleQuestion(NamedTuple):
    """What a file asks: of a benchmark, sizes of its scale models, ascending, and sizes to predict."""

    measurements: Measurements
    simulated: tuple[int, ...]
    targets: tuple[int, ...]


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
    path : gzip or not; "-" is standard input.
    benchmark : the only one of a CSV to ask for; all where None.
    scaling, mpki_unit, tell : see `read_benchmarks`.

    Raises InputError: the file cannot be read, or a value in it is wrong; OptionError: the benchmark is not
    in the CSV.
    """
    text = read_text(path)
    header = next((line for line in text.splitlines() if line.strip()), "").replace('"', "")
    if not {cell.strip().casefold() for cell in header.split(",")} & set(_REQUIRED):
        return (_question_of_toml(text, path, scaling, mpki_unit),)
    found = _benchmarks(text, path, benchmark, scaling, mpki_unit, tell)
    pairs = [each.simulated_sizes[:2] for each in found]
    return tuple(
        ScaleQuestion(each, pair, tuple(size for size in each.sizes if size > pair[1]))
        for each, pair in zip(found, pairs, strict=True)
    )


def _question_of_toml(
    text: str, path: str, scaling: Scaling | None, mpki_unit: MpkiUnit | None
) -> ScaleQuestion:
    either = "a CSV with columns benchmark, size and ipc"
    asked = parsed_toml(text, path, _Toml, _Toml.__struct_fields__, or_else=either, meant="one of the two")
    models = tuple(sorted(asked.simulated or asked.ipc))
    wrong = None
    for key, sizes in (("simulated", asked.simulated), ("targets", asked.targets)):
        if len(set(sizes)) < len(sizes):
            wrong = key, "a size is named twice", "name each once"
        elif out_of_range := next(filter(None, map(wrong_size, sizes)), None):
            wrong = key, out_of_range, SIZE_REMEDY
    if missing := [size for size in models if size not in asked.ipc]:
        wrong = "simulated", f"size {missing[0]} has no IPC", "give it in the table [ipc]"
    elif len(models) < 2:
        what = f"an IPC at {'one size alone' if models else 'no size'} shows no trend"
        wrong = "ipc", what, "give a table [ipc] of two sizes or more"
    if wrong is not None:
        key, what, remedy = wrong
        raise InputError(what, Place(path, key=key), remedy=remedy)
    f_mem = {} if asked.f_mem is None else {models[-1]: asked.f_mem}
    peak, unit, kind = asked.peak_ipc_per_sm, mpki_unit or asked.mpki_unit, scaling or asked.scaling
    try:
        measurements = Measurements(asked.name, asked.ipc, asked.mpki, f_mem, peak, unit, kind)
    except OptionError as error:
        raise InputError(error.message, Place(path), remedy=error.remedy or _CORRECT) from error
    return ScaleQuestion(measurements, models, tuple(asked.targets) or measured_above(measurements, models))


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

    Raises InputError: it cannot be read, lacks a column, or a row is wrong.
    """
    _, rows = _table(read_text(path), path, ("size", "mpki"), GIVE_CURVE)
    if not rows:
        raise InputError("no point of a curve", Place(path), remedy="give a row for each size")
    points, bounds = [], []
    for row in rows:
        size = int(row.number("size", wrong_size, GIVE_CURVE))
        mpki = row.number("mpki", wrong_mpki, GIVE_CURVE)
        points.append((size, mpki))
        if row.cells.get("low") and row.cells.get("high"):
            drop = "give its sampling error, or drop both columns"
            low, high = (row.number(key, wrong_mpki, drop) for key in ("low", "high"))
            if not low <= mpki <= high:
                what = f"the MPKI of {mpki:g} is not from {low:g} to {high:g}"
                raise InputError(what, row.place.in_column("low" if low > mpki else "high"), remedy=drop)
            bounds += [(size, low, high)] if low < high else []
        for column in ("unit", "line_bytes"):
            if row.cells.get(column) != rows[0].cells.get(column):
                place = row.place.in_column(column)
                raise InputError(f"rows differ in their {column}", place, remedy="count all misses in one")
    line, line_bytes = rows[0].cells.get("line_bytes"), None
    if line:
        line_bytes = int(line) if line.isascii() and line.isdigit() and len(line) < 10 else 0
        if line_bytes < 1 or line_bytes & (line_bytes - 1):
            place, remedy = Place(path, column="line_bytes"), "write the bytes of a line, a power of two"
            raise InputError(f"{line} is no line size", place, remedy=remedy)
    return CurvePoints(tuple(points), tuple(bounds), rows[0].choice("unit", MpkiUnit), line_bytes)
