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
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from scalemodel.errors import InputError, OptionError, Place
from scalemodel.measurements import (
    NUMBER_REMEDY,
    SIZE_REMEDY,
    WRONG_VALUE,
    Measurements,
    MpkiUnit,
    Scaling,
    measurements_of,
    wrong_ipc,
    wrong_mpki,
    wrong_size,
)

Choice = TypeVar("Choice", bound=StrEnum)
Tell = Callable[[str], None]
"""Called with a sentence for each thing that a reader leaves out."""

# -- a small file: its text, and the checks of what is in it ----------------------------------------------

# A table of many thousand benchmarks is smaller; what inflates to more is no input of ours.
_MOST_BYTES = 64 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")

# What GPGPU-Sim and Accel-Sim print, and their interval logs.
_SIMULATOR_LOG = re.compile(
    r"^(Accel-Sim \[build|[ \t]*\*\*\* GPGPU-Sim Simulator|GPGPU-Sim (PTX|uArch|version)"
    r"|(kernel_launch_uid|gpu_sim_cycle|gpu_tot_ipc) = |globalcyclecount:|(?i:CFLog)\d+[:_])",
    re.MULTILINE,
)
_LOG_HEAD = 1 << 20

# What a person writes is far below both; tomllib takes the square of the time for the parts of a key.
_MOST_TOML_CHARACTERS = 1 << 20
_MOST_KEY_PARTS = 64
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{_MOST_KEY_PARTS}}}")


def read_text(path: str, *, meant: str = "a CSV or TOML with measurements") -> str:
    """Return the whole text of a file, its line ends as they are; "-" is standard input.

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
        if content.startswith(_GZIP_MAGIC):
            with gzip.open(io.BytesIO(content)) as stream:
                content = stream.read(_MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the gzip data is cut short or damaged ({error})"
        raise InputError(what, place, remedy="copy the file again") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, place, remedy="check the path") from error
    if _SIMULATOR_LOG.search(content[:_LOG_HEAD].decode("utf-8", "replace")):
        what = "the log of a simulator, of which nothing is read here"
        raise InputError(what, place, remedy=f"its IPC is the last gpu_tot_ipc that was printed; {give}")
    if len(content) > _MOST_BYTES:
        what = f"more than {_MOST_BYTES:,} bytes, where a small file is meant"
        raise InputError(what, place, remedy=give)
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


def parsed_toml(text: str, path: str | Path, *, or_else: str, meant: str) -> dict[str, Any]:
    """Return the keys and values of a TOML.

    Parameters
    ----------
    or_else : the other kind of file this may be; named where the file's name does not end in ``.toml``.
    meant : what the remedy then asks for.

    Raises
    ------
    InputError : the text is no TOML, or larger or nested deeper than any that a person writes.
    """
    if len(text) > _MOST_TOML_CHARACTERS:
        what = f"{len(text):,} characters, where a TOML of at most {_MOST_TOML_CHARACTERS:,} is read"
        raise InputError(what, Place(path), remedy="give measurements as a CSV, or in several files")
    if (long := _LONG_KEY.search(text)) is not None:
        what = f"tables within tables, more than {_MOST_KEY_PARTS} deep"
        at = Place(path, text.count("\n", 0, long.start()) + 1)
        raise InputError(what, at, remedy="name a table in fewer parts")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers and nesting beyond Python's own limits too
        found = _TOML_PLACE.search(str(error))
        row = None if found is None else int(found[1])
        what, remedy = f"neither {or_else} nor a TOML ({error})", f"give {meant}"
        if str(path).casefold().removesuffix(".gz").endswith(".toml"):
            reason = _TOML_PLACE.sub("", str(error))
            what = f"not a TOML: {reason[:1].casefold()}{reason[1:]}"
            what += "" if found is None else f" at column {found[2]} of the row"
            remedy = "correct it there" if found is not None else "correct it"
        raise InputError(what, Place(path, row), remedy=remedy) from error


@contextmanager
def _csv_errors_placed(reader: Any, path: str) -> Iterator[None]:
    """Say in which row of the file a reader of the package `csv` failed."""
    try:
        yield
    except csv.Error as error:
        place = Place(path, reader.line_num)
        raise InputError(f"not a CSV ({error})", place, remedy="check the quotes there") from error


def _require(wrong: str | None, place: Place, remedy: str) -> None:
    """Raise InputError where something is wrong; None where nothing is."""
    if wrong is not None:
        raise InputError(wrong, place, remedy=remedy)


def _number_in(cell: str, place: Place, remedy: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        what = f"{cell!r} is not a number" if cell.strip() else "nothing where a number is needed"
        raise InputError(what, place, remedy=remedy) from error


def _choice_in(value: object, word: Any, choices: type[Choice], place: Place) -> Choice:
    """Return the choice that a word names; the message quotes the value as the file has it."""
    if word not in list(choices):
        raise InputError(f"{value!r} is not known", place, remedy=f"write one of {', '.join(choices)}")
    return choices(word)


# -- a table of benchmarks --------------------------------------------------------------------------------

_REQUIRED = ("benchmark", "size", "ipc")
_OPTIONAL = ("mpki", "f_mem", "scaling", "mpki_unit")
_KNOWN = (*_REQUIRED, *_OPTIONAL)
_CHOICES: Mapping[str, type[StrEnum]] = {"scaling": Scaling, "mpki_unit": MpkiUnit}
# A word of another meaning is further off than a slip.
_LEAST_LIKENESS = 0.8
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table: what was measured, by column, and what that means."""

    place: Place
    benchmark: str
    size: int
    values: Mapping[str, float]
    choices: Mapping[str, StrEnum]


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
    """Return the benchmarks of a table, or the one that is named; see `read_benchmarks`."""
    benchmarks = _by_benchmark(_rows(text, path, tell))
    if not benchmarks:
        remedy = "give a row for each benchmark and size"
        raise InputError("no row of measurements", Place(path), remedy=remedy)
    if benchmark is not None and benchmark not in benchmarks:
        what = f"{path} has no benchmark {benchmark!r}"
        raise OptionError(what, remedy=f"name one of {', '.join(benchmarks)}")
    chosen = {name: rows for name, rows in benchmarks.items() if benchmark in {None, name}}
    left_out = {name: wrong for name, rows in chosen.items() if (wrong := _too_few(name, rows))}
    if len(left_out) == len(chosen):
        raise next(iter(left_out.values()))
    if tell is not None:
        for wrong in left_out.values():
            tell(f"left out: {wrong}")
    found = []
    for name, rows in chosen.items():
        if name in left_out:
            continue
        ipc, mpki, f_mem = (
            [(size, row.values[column]) for size, row in rows.items() if column in row.values]
            for column in WRONG_VALUE
        )
        unit = mpki_unit or _one_choice(name, rows, "mpki_unit", MpkiUnit.THREAD)
        kind = scaling or _one_choice(name, rows, "scaling", Scaling.STRONG)
        found.append(measurements_of(ipc, mpki, f_mem, name=name, mpki_unit=unit, scaling=kind))
    return tuple(found)


def _by_benchmark(table: Iterator[_Row]) -> dict[str, dict[int, _Row]]:
    benchmarks: dict[str, dict[int, _Row]] = {}
    for row in table:
        rows = benchmarks.setdefault(row.benchmark, {})
        if row.size in rows:
            what = f"{row.benchmark} has size {row.size} already, in row {rows[row.size].place.row}"
            raise InputError(what, row.place.in_column("size"), remedy="keep one of the two")
        rows[row.size] = row
    return benchmarks


def _too_few(name: str, rows: Mapping[int, _Row]) -> InputError | None:
    """Return what is wrong where there is no IPC at two sizes."""
    count = sum("ipc" in row.values for row in rows.values())
    if count > 1:
        return None
    last = max((row.place for row in rows.values()), key=lambda place: place.row or 0)
    what = f"{name} has an IPC at {'one size alone' if count else 'no size'}, which shows no trend"
    return InputError(what, last.in_column("ipc"), remedy="give two sizes or more")


def _one_choice(name: str, rows: Mapping[int, _Row], column: str, default: Choice) -> Choice:
    """Return what the rows of a benchmark say; the default where none does."""
    said = [row for row in rows.values() if column in row.choices]
    for row in said[1:]:
        if row.choices[column] is not said[0].choices[column]:
            first = f"{said[0].choices[column]} in row {said[0].place.row}"
            what = f"{name} has {row.choices[column]} here and {first}"
            remedy = "give a benchmark one, or two benchmarks two names"
            raise InputError(what, row.place.in_column(column), remedy=remedy)
    return type(default)(said[0].choices[column]) if said else default


def _rows(text: str, path: str, tell: Tell | None) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    with _csv_errors_placed(reader, path):
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _checked_header(cells, Place(path, reader.line_num), tell)
            else:
                yield _row(header, cells, Place(path, reader.line_num))


def _row(header: list[str], cells: list[str], place: Place) -> _Row:
    if len(cells) != len(header):
        remedy = "leave the cell of what was not measured empty, with its comma"
        if len(cells) > len(header):
            remedy = "write numbers with a decimal point: a comma ends the cell"
        count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
        raise InputError(f"{count} where the header has {len(header)}", place, remedy=remedy)
    by_column = dict(zip(header, map(str.strip, cells), strict=True))
    if not by_column["benchmark"]:
        raise InputError("no benchmark is named", place.in_column("benchmark"), remedy="name it")
    size = _number_in(by_column["size"], place.in_column("size"), NUMBER_REMEDY)
    _require(wrong_size(size), place.in_column("size"), SIZE_REMEDY)
    values: dict[str, float] = {}
    for column, wrong_value in WRONG_VALUE.items():
        if cell := by_column.get(column):
            at = place.in_column(column)
            values[column] = _number_in(cell, at, NUMBER_REMEDY)
            remedy = "correct it, or leave the cell empty if it was not measured"
            _require(wrong_value(values[column]), at, remedy)
    if not values.keys() & {"ipc", "mpki"}:
        raise InputError("neither an IPC nor an MPKI", place, remedy="give one of them, or drop the row")
    choices = {
        column: _choice_in(cell, cell.casefold(), kind, place.in_column(column))
        for column, kind in _CHOICES.items()
        if (cell := by_column.get(column))
    }
    return _Row(place, by_column["benchmark"], int(size), values, choices)


def _checked_header(cells: Sequence[str], place: Place, tell: Tell | None) -> list[str]:
    """Return the columns' names."""
    line = ",".join(cells)
    for separator, name in _OTHER_SEPARATORS.items():
        if separator in line and _has_required(line.split(separator)):
            remedy = "write commas between cells, and a point in numbers, as 100.5"
            raise InputError(f"its cells are apart by {name}", place, remedy=remedy)
    names = [cell.strip().casefold() for cell in cells]
    stray = [name for name in dict.fromkeys(names) if name not in _KNOWN]
    missing = [column for column in _KNOWN if column not in names]
    for name in stray:
        # Where the column itself is there, this is another one.
        close = get_close_matches(name, missing, 1, _LEAST_LIKENESS) or [
            column for column in missing if sorted(column) == sorted(name)
        ]
        if close:
            remedy = f"did you mean {close[0]!r}?"
            raise InputError(f"no column {name!r} is known", place.in_column(name), remedy=remedy)
    for column in _KNOWN:
        if column in missing and column in _REQUIRED:
            remedy = f"give the columns {','.join(_REQUIRED)} and, where known, {','.join(_OPTIONAL)}"
            raise InputError(f"no column {column}", place, remedy=remedy)
        if names.count(column) > 1:
            raise InputError(f"two columns {column}", place.in_column(column), remedy="keep one of the two")
    if stray and tell is not None:
        shown = ", ".join(name or "without a name" for name in stray)
        tell(f"{place.path}: not read: column{'s' if len(stray) > 1 else ''} {shown}")
    return names


def _has_required(cells: Sequence[str]) -> bool:
    return bool(set(_REQUIRED) & {cell.strip().casefold() for cell in cells})


# -- a question -------------------------------------------------------------------------------------------

_KEYS = ("name", "scaling", "mpki_unit", "peak_ipc_per_sm", "f_mem", "simulated", "targets", "ipc", "mpki")


@dataclass(frozen=True, slots=True)
class ScaleQuestion:
    """What a file asks: of a benchmark, sizes of its scale models, ascending, and sizes to predict."""

    measurements: Measurements
    simulated: tuple[int, ...]
    targets: tuple[int, ...]


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
    if not any(_has_required(header.split(separator)) for separator in (",", *_OTHER_SEPARATORS)):
        return (_question_of_toml(text, path, scaling, mpki_unit),)
    return tuple(
        ScaleQuestion(
            each,
            each.simulated_sizes[:2],
            tuple(size for size in each.sizes if size > each.simulated_sizes[1]),
        )
        for each in _benchmarks(text, path, benchmark, scaling, mpki_unit, tell)
    )


def _question_of_toml(
    text: str, path: str, scaling: Scaling | None, mpki_unit: MpkiUnit | None
) -> ScaleQuestion:
    document = parsed_toml(
        text, path, or_else="a CSV with columns benchmark, size and ipc", meant="one of the two"
    )
    for key in document:
        if key not in _KEYS:
            close = get_close_matches(key, _KEYS, 1)
            remedy = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(_KEYS)}"
            raise InputError(f"no key {key!r} is known", Place(path, key=key), remedy=remedy)
    ipc, mpki = (_table(document, key, path) for key in ("ipc", "mpki"))
    models = tuple(sorted(_sizes(document, "simulated", path) or ipc))
    missing = [size for size in models if size not in ipc]
    if missing:
        place = Place(path, key="simulated")
        raise InputError(f"size {missing[0]} has no IPC", place, remedy="give it in the table [ipc]")
    if len(models) < 2:
        what = f"an IPC at {'one size alone' if models else 'no size'} shows no trend"
        remedy = "give a table [ipc] of two sizes or more"
        raise InputError(what, Place(path, key="ipc"), remedy=remedy)
    f_mem, peak = (
        None if document.get(key) is None else _number(document[key], wrong, Place(path, key=key))
        for key, wrong in (("f_mem", WRONG_VALUE["f_mem"]), ("peak_ipc_per_sm", wrong_ipc))
    )
    name = document.get("name", "")
    if not isinstance(name, str):
        raise InputError("a name is text", Place(path, key="name"), remedy="put it in quotes")
    word = document.get("scaling", Scaling.STRONG)
    unit = document.get("mpki_unit", MpkiUnit.THREAD)
    try:
        measurements = measurements_of(
            ipc.items(),
            mpki.items(),
            [] if f_mem is None else [(models[-1], f_mem)],
            name=name,
            peak_ipc_per_sm=peak,
            scaling=scaling or _choice_in(word, word, Scaling, Place(path, key="scaling")),
            mpki_unit=mpki_unit or _choice_in(unit, unit, MpkiUnit, Place(path, key="mpki_unit")),
        )
    except OptionError as error:
        raise InputError(error.message, Place(path), remedy=error.remedy) from error
    targets = _sizes(document, "targets", path) or measured_above(measurements, models)
    return ScaleQuestion(measurements, models, targets)


def measured_above(measurements: Measurements, models: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes with an IPC above the scale models: targets where none is named."""
    return tuple(size for size in measurements.simulated_sizes if size > max(models, default=0))


def _table(document: Mapping[str, Any], key: str, path: str) -> dict[int, float]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        remedy = f"write [{key}] and below it a line SIZE = VALUE each"
        raise InputError("not a table", Place(path, key=key), remedy=remedy)
    values: dict[int, float] = {}
    for word, value in table.items():
        place = Place(path, key=f"{key}.{word}")
        size = _size(int(word) if word.isascii() and word.isdigit() and len(word) < 20 else word, place)
        if size in values:
            raise InputError(f"size {size} is given twice", place, remedy="keep one of the two")
        values[size] = _number(value, WRONG_VALUE[key], place)
    return values


def _sizes(document: Mapping[str, Any], key: str, path: str) -> tuple[int, ...]:
    sizes, place = document.get(key, []), Place(path, key=key)
    if not isinstance(sizes, list):
        raise InputError("not a list", place, remedy=f"write {key} = [8, 16]")
    checked = tuple(_size(size, place) for size in sizes)
    if len(set(checked)) < len(checked):
        raise InputError("a size is named twice", place, remedy="name each once")
    return checked


def _size(value: Any, place: Place) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"a size is a whole number, not {value!r}", place, remedy=SIZE_REMEDY)
    _require(wrong_size(value), place, SIZE_REMEDY)
    return value


def _number(value: Any, wrong_value: Callable[[float], str | None], place: Place) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InputError(f"a number is meant, not {value!r}", place, remedy="correct it")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    _require(wrong_value(number), place, "correct it, or leave it out if not measured")
    return number


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
    reader = csv.DictReader(read_text(path).splitlines(), skipinitialspace=True)
    points: list[tuple[int, float]] = []
    bounds: list[tuple[int, float, float]] = []
    units: set[MpkiUnit | None] = set()
    lines: set[int | None] = set()
    with _csv_errors_placed(reader, path):
        for column in ("size", "mpki"):
            if column not in (reader.fieldnames or ()):
                raise InputError(f"no column {column}", Place(path, 1), remedy=GIVE_COLUMNS)
        for row in reader:
            place = Place(path, reader.line_num)
            size = _number_in(row["size"] or "", place.in_column("size"), GIVE_SIZES)
            mpki = _number_in(row["mpki"] or "", place.in_column("mpki"), GIVE_INSTRUCTIONS)
            _require(wrong_size(size), place.in_column("size"), SIZE_REMEDY)
            _require(wrong_mpki(mpki), place.in_column("mpki"), "correct it, or drop the row")
            points.append((int(size), mpki))
            bounds += _bounds(row, int(size), mpki, place)
            units.add(_unit(row.get("unit"), place.in_column("unit")))
            lines.add(_line_bytes(row.get("line_bytes"), place.in_column("line_bytes")))
            for several, what, column in ((units, "unit", "unit"), (lines, "line size", "line_bytes")):
                if len(several) > 1:
                    at = place.in_column(column)
                    raise InputError(f"rows differ in their {what}", at, remedy="count all misses in one")
    if not points:
        raise InputError("no point of a curve", Place(path), remedy="give a row for each size")
    return CurvePoints(tuple(points), units.pop(), tuple(bounds), lines.pop())


def _bounds(
    row: Mapping[str, str | None], size: int, mpki: float, place: Place
) -> list[tuple[int, float, float]]:
    """Return (size, low, high), alone in a list; an empty one where the row states no sampling error."""
    cells = {column: row.get(column) or "" for column in ("low", "high")}
    if not all(cell.strip() for cell in cells.values()):
        return []
    low, high = (
        _number_in(cell, place.in_column(column), "write a number") for column, cell in cells.items()
    )
    if wrong_mpki(low) or wrong_mpki(high) or not low <= mpki <= high:
        what = f"the MPKI of {mpki:g} is not from {low:g} to {high:g}"
        at = place.in_column("low" if low > mpki else "high")
        raise InputError(what, at, remedy="give its sampling error, or drop both columns")
    return [(size, low, high)] if low < high else []


def _unit(cell: str | None, place: Place) -> MpkiUnit | None:
    if cell and cell not in list(MpkiUnit):
        raise InputError(f"no unit {cell!r} is known", place, remedy="write thread or warp")
    return MpkiUnit(cell) if cell else None


def _line_bytes(cell: str | None, place: Place) -> int | None:
    if not cell:
        return None
    remedy = "write the bytes of a line, a power of two"
    number = _number_in(cell, place, remedy)
    if number < 1 or not number.is_integer() or int(number) & (int(number) - 1):
        raise InputError(f"{cell} is no line size", place, remedy=remedy)
    return int(number)
