"""What a prediction is asked with: tables of benchmarks, questions in TOML, and files of a miss-rate curve.

**Benchmarks** are a CSV, a row for each benchmark and size: columns ``benchmark,size,ipc`` and, where known,
``mpki,f_mem,scaling,mpki_unit``, in any order; others are not read, which is told. An empty cell is not
known: a row may hold the MPKI alone, as a point of the miss-rate curve. ``scaling`` and ``mpki_unit`` are
those of the benchmark, the same in all of its rows. Its two smallest sizes are the scale models, all larger
ones targets.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

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
Tell = Callable[[str], None]
"""Called with a sentence for each thing that a reader leaves out."""

# -- a small file: its text, its rows, its keys -----------------------------------------------------------

# A table of many thousand benchmarks is smaller; what inflates to more is no input of ours.
_MOST_BYTES = 64 << 20
# What a person writes is far below; tomllib takes the square of the time for the parts of a key.
_MOST_TOML_CHARACTERS = 1 << 14
# A word of another meaning is further off than a slip.
_LEAST_LIKENESS = 0.8
_CORRECT = "correct it, or leave it out if it is not known"
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")

# What GPGPU-Sim and Accel-Sim print, and their interval logs.
_SIMULATOR_LOG = re.compile(
    rb"^(Accel-Sim \[build|[ \t]*\*\*\* GPGPU-Sim Simulator|GPGPU-Sim (PTX|uArch|version)"
    rb"|(kernel_launch_uid|gpu_sim_cycle|gpu_tot_ipc) = |globalcyclecount:|(?i:CFLog)\d+[:_])",
    re.MULTILINE,
)
_LOG_HEAD = 1 << 20


def read_text(path: str, *, meant: str = "a CSV or TOML with measurements") -> str:
    """Return the whole text of a file, gzip or not, its line ends as they are; "-" is standard input.

    Parameters
    ----------
    meant : the kind of file that the remedy asks for where this one holds no text.

    Raises
    ------
    InputError : it cannot be read, is empty, damaged, too large, not text in UTF-8, or what a simulator
        wrote.
    """
    place, give = Place(path), f"give {meant}"
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if content.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(content)) as stream:
                content = stream.read(_MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the gzip data is cut short or damaged ({error})"
        raise InputError(what, place, remedy="copy the file again") from error
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror or error})", place, remedy="check the path"
        ) from error
    if _SIMULATOR_LOG.search(content[:_LOG_HEAD]):
        what = "the log of a simulator, of which nothing is read here"
        raise InputError(what, place, remedy=f"its IPC is the last gpu_tot_ipc that was printed; {give}")
    if len(content) > _MOST_BYTES:
        raise InputError(f"more than {_MOST_BYTES:,} bytes, where a small file is meant", place, remedy=give)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not text in UTF-8", place, remedy=give) from error
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
        key = re.sub(r"[`$]|\[[^\]]*\]", "", where).removeprefix(".")
        stray = re.search(r"unknown field `(.*)`", what, re.DOTALL)
        remedy = _CORRECT
        if stray is not None:
            key = stray[1]
            what, remedy = f"no key {key!r} is known", nearest(key, known, _LEAST_LIKENESS)
        elif missing := re.search(r"required field `(.*)`", what):
            what, remedy = f"{missing[1]} is missing", "state it"
        line = re.search(
            rf"^[ \t]*\[?[ \t]*{re.escape(key.rpartition('.')[2])}[ \t]*[=\].]", text, re.MULTILINE
        )
        row = None if line is None or not key else text.count("\n", 0, line.start()) + 1
        raise InputError(what.replace("`", ""), Place(path, row, key=key or None), remedy=remedy) from error
    except (ValueError, RecursionError) as error:  # numbers and nesting beyond Python's own limits too
        found = _TOML_PLACE.search(str(error))
        what, remedy = f"neither {or_else} nor a TOML ({error})", f"give {meant}"
        if path.casefold().removesuffix(".gz").endswith(".toml"):
            what, remedy = f"not a TOML: {error}", "correct it there"
        raise InputError(
            what, Place(path, None if found is None else int(found[1])), remedy=remedy
        ) from error


def _csv_rows(text: str, path: str) -> Iterator[tuple[Place, list[str]]]:
    """Yield the rows of a CSV that are not blank, cells without blanks around them, the header first."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    width = 0
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place, width = Place(path, reader.line_num), width or len(cells)
            if len(cells) != width:
                remedy = (
                    "leave the cell of what was not measured empty, and write numbers with a decimal point"
                )
                count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
                raise InputError(f"{count} where the header has {width}", place, remedy=remedy)
            yield place, [cell.strip() for cell in cells]
    except csv.Error as error:
        place = Place(path, reader.line_num)
        raise InputError(f"not a CSV ({error})", place, remedy="check the quotes there") from error


def _number(cell: str, place: Place, wrong_value: Callable[[float], str | None], remedy: str) -> float:
    """Return the number in a cell; raise InputError where there is none, or one out of range."""
    try:
        value = float(cell)
        wrong = wrong_value(value)
    except ValueError:
        wrong = f"{cell!r} is not a number" if cell else "nothing where a number is needed"
    if wrong is not None:
        raise InputError(wrong, place, remedy=remedy)
    return value


def _choice(cell: str, choices: type[Choice], place: Place) -> Choice:
    if cell.casefold() not in list(choices):
        raise InputError(f"{cell!r} is not known", place, remedy=f"write one of {', '.join(choices)}")
    return choices(cell.casefold())


# -- a table of benchmarks --------------------------------------------------------------------------------

_REQUIRED = ("benchmark", "size", "ipc")
_OPTIONAL = ("mpki", "f_mem", "scaling", "mpki_unit")
_KNOWN = (*_REQUIRED, *_OPTIONAL)
_CHOICES: Mapping[str, type[StrEnum]] = {"scaling": Scaling, "mpki_unit": MpkiUnit}


@dataclass(frozen=True, slots=True)
class _Found:
    """What the rows of a benchmark say: where each size is, values by column and size, choices."""

    rows: dict[int, Place] = field(default_factory=dict)
    values: dict[str, dict[int, float]] = field(
        default_factory=lambda: {column: {} for column in WRONG_VALUE}
    )
    choices: dict[str, tuple[StrEnum, Place]] = field(default_factory=dict)


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

    Raises
    ------
    InputError : it cannot be read, lacks a column, or a row is wrong; or no benchmark has an IPC at two
        sizes.
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
    if not there:
        raise InputError(
            "no row of measurements", Place(path), remedy="give a row for each benchmark and size"
        )
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
        columns = (of.values["ipc"], of.values["mpki"], of.values["f_mem"])
        found.append(Measurements(name, *columns, mpki_unit=unit, scaling=kind))
    if not found:
        raise left_out[0]
    if tell is not None:
        for wrong in left_out:
            tell(f"left out: {wrong}")
    return tuple(found)


def _by_benchmark(text: str, path: str, tell: Tell | None) -> dict[str, _Found]:
    found: dict[str, _Found] = {}
    rows = _csv_rows(text, path)
    place, names = next(rows)
    header = _checked_header(names, place, tell)
    for place, cells in rows:
        row = dict(zip(header, cells, strict=True))
        name, size = (
            row["benchmark"],
            int(_number(row["size"], place.in_column("size"), wrong_size, SIZE_REMEDY)),
        )
        if not name:
            raise InputError("no benchmark is named", place.in_column("benchmark"), remedy="name it")
        if not (row.get("ipc") or row.get("mpki")):
            raise InputError("neither an IPC nor an MPKI", place, remedy="give one of them, or drop the row")
        of = found.setdefault(name, _Found())
        if of.rows.setdefault(size, place) is not place:
            what = f"{name} has size {size} already, in row {of.rows[size].row}"
            raise InputError(what, place.in_column("size"), remedy="keep one of the two")
        _take_row(name, size, row, place, of)
    return found


def _take_row(name: str, size: int, row: Mapping[str, str], place: Place, of: _Found) -> None:
    """Add what a row says to what its benchmark's others say."""
    correct = f"correct it, {NUMBER_REMEDY}, or leave the cell empty if it was not measured"
    for column, wrong_value in WRONG_VALUE.items():
        if cell := row.get(column):
            of.values[column][size] = _number(cell, place.in_column(column), wrong_value, correct)
    for column, kind in _CHOICES.items():
        if cell := row.get(column):
            choice = _choice(cell, kind, place.in_column(column))
            first, where = of.choices.setdefault(column, (choice, place))
            if first is not choice:
                what = f"{name} has {choice} here and {first} in row {where.row}"
                remedy = "give a benchmark one, or two benchmarks two names"
                raise InputError(what, place.in_column(column), remedy=remedy)


def _checked_header(cells: Sequence[str], place: Place, tell: Tell | None) -> list[str]:
    """Return the columns' names."""
    names = [cell.casefold() for cell in cells]
    stray = [name for name in dict.fromkeys(names) if name not in _KNOWN]
    missing = [column for column in _KNOWN if column not in names]
    for name in stray:
        # Where the column itself is there, this is another one.
        remedy = nearest(name, missing, _LEAST_LIKENESS)
        if remedy.startswith("did you mean"):
            raise InputError(f"no column {name!r} is known", place.in_column(name), remedy=remedy)
    remedy = f"give the columns {','.join(_REQUIRED)} and, where known, {','.join(_OPTIONAL)}, once each"
    for column in _KNOWN:
        if names.count(column) > 1 or (column in _REQUIRED and column in missing):
            count = "two columns" if names.count(column) else "no column"
            raise InputError(f"{count} {column}", place, remedy=remedy)
    if stray and tell is not None:
        shown = ", ".join(name or "without a name" for name in stray)
        tell(f"{place.path}: not read: column{'s' if len(stray) > 1 else ''} {shown}")
    return names


# -- a question -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScaleQuestion:
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

    Raises
    ------
    InputError : the file cannot be read, or a value in it is wrong.
    OptionError : the benchmark is not in the CSV.
    """
    text = read_text(path)
    header = next((line for line in text.splitlines() if line.strip()), "").replace('"', "")
    if not {cell.strip().casefold() for cell in header.split(",")} & set(_REQUIRED):
        return (_question_of_toml(text, path, scaling, mpki_unit),)
    found = _benchmarks(text, path, benchmark, scaling, mpki_unit, tell)
    models = [each.simulated_sizes[:2] for each in found]
    return tuple(
        ScaleQuestion(each, pair, tuple(size for size in each.sizes if size > pair[1]))
        for each, pair in zip(found, models, strict=True)
    )


def _question_of_toml(
    text: str, path: str, scaling: Scaling | None, mpki_unit: MpkiUnit | None
) -> ScaleQuestion:
    known = _Toml.__struct_fields__
    either = "a CSV with columns benchmark, size and ipc"
    asked = parsed_toml(text, path, _Toml, known, or_else=either, meant="one of the two")
    models = tuple(sorted(asked.simulated or asked.ipc))
    for key, sizes in (("simulated", asked.simulated), ("targets", asked.targets)):
        if len(set(sizes)) < len(sizes):
            raise InputError("a size is named twice", Place(path, key=key), remedy="name each once")
        if wrong := next(filter(None, map(wrong_size, sizes)), None):
            raise InputError(wrong, Place(path, key=key), remedy=SIZE_REMEDY)
    if missing := [size for size in models if size not in asked.ipc]:
        what = f"size {missing[0]} has no IPC"
        raise InputError(what, Place(path, key="simulated"), remedy="give it in the table [ipc]")
    if len(models) < 2:
        what = f"an IPC at {'one size alone' if models else 'no size'} shows no trend"
        remedy = "give a table [ipc] of two sizes or more"
        raise InputError(what, Place(path, key="ipc"), remedy=remedy)
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

#: Remedies that ask for another curve; a front door may say how it makes one.
GIVE_COLUMNS = "give a curve with the columns size and mpki"
GIVE_SIZES = "make the curve with a system size for each capacity"
GIVE_INSTRUCTIONS = "make the curve with the `instructions` of the trace"


@dataclass(frozen=True, slots=True)
class CurvePoints:
    """A miss-rate curve over system sizes.

    Attributes
    ----------
    mpki : (size, MPKI), in the file's order.
    unit : whose instructions the MPKI counts; None where the file does not say it.
    bounds : (size, low, high) of each MPKI that has a sampling error.
    line_bytes : bytes that one miss fetches; None where the file does not say it.
    """

    mpki: tuple[tuple[int, float], ...]
    unit: MpkiUnit | None
    bounds: tuple[tuple[int, float, float], ...] = ()
    line_bytes: int | None = None


def read_curve_points(path: str) -> CurvePoints:
    """Return the points of a CSV, gzip or not; "-" is standard input.

    Raises
    ------
    InputError : it cannot be read, lacks a column, or a row is wrong.
    """
    rows = _csv_rows(read_text(path), path)
    place, header = next(rows)
    if missing := [column for column in ("size", "mpki") if column not in header]:
        raise InputError(f"no column {missing[0]}", place, remedy=GIVE_COLUMNS)
    points, bounds = list[tuple[int, float]](), list[tuple[int, float, float]]()
    said: dict[str, str] = {}
    for place, cells in rows:
        row = dict(zip(header, cells, strict=True))
        size = int(_number(row["size"], place.in_column("size"), wrong_size, GIVE_SIZES))
        mpki = _number(row["mpki"], place.in_column("mpki"), wrong_mpki, GIVE_INSTRUCTIONS)
        points.append((size, mpki))
        if row.get("low") and row.get("high"):
            drop = "give its sampling error, or drop both columns"
            low, high = (_number(row[key], place.in_column(key), wrong_mpki, drop) for key in ("low", "high"))
            if not low <= mpki <= high:
                what = f"the MPKI of {mpki:g} is not from {low:g} to {high:g}"
                raise InputError(what, place.in_column("low" if low > mpki else "high"), remedy=drop)
            bounds += [(size, low, high)] if low < high else []
        for column in ("unit", "line_bytes"):
            if said.setdefault(column, row.get(column, "")) != row.get(column, ""):
                at = place.in_column(column)
                raise InputError(f"rows differ in their {column}", at, remedy="count all misses in one")
    if not points:
        raise InputError("no point of a curve", Place(path), remedy="give a row for each size")
    unit, line = said["unit"], said["line_bytes"]
    return CurvePoints(
        tuple(points),
        _choice(unit, MpkiUnit, Place(path, column="unit")) if unit else None,
        tuple(bounds),
        _line_bytes(line, Place(path, column="line_bytes")) if line else None,
    )


def _line_bytes(cell: str, place: Place) -> int:
    number = int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 10 else 0
    if number < 1 or number & (number - 1):
        raise InputError(f"{cell} is no line size", place, remedy="write the bytes of a line, a power of two")
    return number
