"""nvprof's GPU trace (`nvprof --print-gpu-trace`), printed in columns or as CSV, with what stands around it.

A kernel's name ends with the number of the API call that launched it, and launches are in the order of these
numbers. Where they are missing launches are in the order of their starts, and where starts are equal in that
of the file: starts are printed with six digits, so many are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import IntArray, first_true, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, RecordingFacts
from sampling.readers.input_file import HEAD_BYTES, InputFile, pieces
from sampling.readers.table import (
    MOST_NS,
    Kind,
    Launches,
    Layout,
    Rows,
    first_line,
    header_cells,
    joined_lines,
    lines_before,
    lines_of,
    parse,
    parse_plain,
)

FORMAT = "nvprof"

# How many nanoseconds one unit of time is. nvprof chooses one for every cell, or one for a column of CSV.
_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_GRID = ("Grid X", "Grid Y", "Grid Z")
_BLOCK = ("Block X", "Block Y", "Block Z")
_TIMES = ("Start", "Duration")
_CSV_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_TIMES, "number"),
    **dict.fromkeys((*_GRID, *_BLOCK, "Stream", "Correlation_ID"), "integer"),
    **dict.fromkeys(("Device", "Name"), "text"),
}
_COLUMN_KINDS: dict[str, Kind] = {
    **dict.fromkeys((*_TIMES, "Grid Size", "Block Size", "Device", "Name"), "text"),
    "Stream": "integer",
}
_PRINT_AGAIN = "print the trace again with `nvprof --print-gpu-trace --log-file FILE`"
_NOTHING = (
    "a GPU trace of nvprof that lists no kernel, only copies and memsets or nothing",
    "record a run that launches kernels with `nvprof --print-gpu-trace`",
)

_HEADER = re.compile(
    rb"^(?:(?P<columns>[ \t]*Start {2,}Duration {2,}Grid Size {2,}Block Size {2,}[^\r\n]* {2,}Name)"
    rb'|(?P<csv>"?Start"?,"?Duration"?,"?Grid X"?,[^\r\n]*))[ \t]*\r?(?:\n|\Z)',
    re.MULTILINE,
)
# An empty line, a line of nvprof's own, or the notes that explain the columns.
_ENDS = (b"\n", b"\r\n", b"==", b"Regs: ")
_BANNER = re.compile(rb"^==\d+== (?:NVPROF is profiling|Profiling (?:application|result))", re.MULTILINE)
# No name has it, though one may have a tab.
_BETWEEN_CELLS = "\x1f"
_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*")
# The number in brackets ties a kernel to the API call that launched it.
_NAME = r"(?s)^(?P<name>.*?)(?:\s\[(?P<number>\d{1,18})\])?\s*$"


def recognise(file: InputFile) -> bool:
    """Return whether a GPU trace's header is in the head, or may follow what the program printed."""
    if _HEADER.search(file.head) is not None:
        return True
    return len(file.head) == HEAD_BYTES and _BANNER.search(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile | None:
    """Return the kernels of the trace as launches.

    Raises ProfileError: there is no GPU trace, or more than one; a row does not fit the header; there is no
    kernel.
    """
    from pyarrow import compute

    launches = Launches(file, kernels)
    order: LaunchOrder = "correlation"
    device_numbers: dict[str, int] = {}
    device_names: dict[int, str] = {}
    units: dict[str, int] = {}
    has_header = False
    for part in _tables(file, progress, units):
        has_header = True
        if part is None:
            continue
        distinct, codes = part.codes("Name")
        is_kernel = ~to_numpy(compute.starts_with(distinct, "[CUDA mem"))[codes]
        is_csv = "Grid X" in part
        rows = part.where(
            is_kernel & (part.has_value("Grid X") if is_csv else part.sizes("Grid Size")[0] > 0)
        )
        if not len(rows):
            continue
        if is_csv:
            start_ns, duration_ns = (rows.times(title, units[title]) for title in _TIMES)
            grid, block = ([rows.numbers(axis) for axis in axes] for axes in (_GRID, _BLOCK))
        else:
            start_ns, duration_ns = (_times_with_units(rows, title) for title in _TIMES)
            grid, block = rows.sizes("Grid Size"), rows.sizes("Block Size")
            rows.refuse(block[0] == 0, "Block Size", "a kernel without blocks")
        rows.refuse(duration_ns < 0, "Duration", "a launch lasts less than nothing")
        name, number = _numbered_names(rows, kernels)
        correlation = rows.if_complete("Correlation_ID")
        if number is None and correlation is None:
            order = "gpu-start"
        devices = None
        if "Device" in rows:
            texts, codes = rows.texts("Device")
            for text in texts:
                # Printed in columns a name may lack its number: each is a GPU then.
                match = _DEVICE.fullmatch(text)
                unused = len(device_numbers) if match is None else int(match["number"])
                device = device_numbers.setdefault(text, unused)
                device_names[device] = text.strip() if match is None else match["name"]
            devices = np.array([device_numbers[text] for text in texts], dtype=np.int32)[codes]
        launches.add(
            LaunchColumns(
                name=name,
                duration_ns=duration_ns,
                order=number if correlation is None else correlation,
                device=devices,
                grid=grid,
                block=block,
                start_ns=start_ns,
                stream=rows.if_complete("Stream"),
            )
        )
    if not has_header:
        return None
    described = tuple(Device(number, name) for number, name in sorted(device_names.items()))
    facts = RecordingFacts(devices=described, launch_order=order, product="nvprof")
    return launches.finish(FORMAT, facts, _NOTHING)


def _tables(file: InputFile, progress: Progress | None, units: dict[str, int]) -> Iterator[Rows | None]:
    """Yield None for the header, then the rows under it; the units of CSV are put into ``units``."""
    layout: Layout | None = None
    is_csv = has_ended = False
    for offset, text in pieces(file, progress):
        start = 0
        if (layout is None or has_ended) and (found := _HEADER.search(text)):
            if has_ended:
                raise _second(file, offset + found.start())
            is_csv, start = found["csv"] is not None, found.end()
            line = (found["csv"] or re.sub(rb" {2,}", b",", found["columns"].strip())).strip()
            titles = header_cells(line)
            kinds = _CSV_KINDS if is_csv else _COLUMN_KINDS
            columns = {title: (titles.index(title), kind) for title, kind in kinds.items() if title in titles}
            layout = Layout(titles, columns, "," if is_csv else _BETWEEN_CELLS, remedy=_PRINT_AGAIN)
            yield None
        if layout is None or has_ended:
            continue
        body = text[start:]
        if is_csv and not units and body:
            units_line = first_line(body)
            _take_units(file, layout, header_cells(units_line), offset + start, units)
            start, body = start + len(units_line), body[len(units_line) :]
        ends = (
            [0]
            if body.startswith(_ENDS)
            else [at + 1 for end in _ENDS if (at := body.find(b"\n" + end)) >= 0]
        )
        has_ended = bool(ends)
        rows = body[: min(ends, default=len(body))]
        if has_ended and (again := _HEADER.search(body, len(rows))):
            raise _second(file, offset + start + again.start())
        if rows.strip():
            yield (parse if is_csv else _of_columns)(file, layout, offset + start, rows)


def _second(file: InputFile, offset: int) -> ProfileError:
    return ProfileError(
        "holds a second GPU trace of nvprof",
        path=file.path,
        row=lines_before(file, offset) + 1,
        remedy="print each process to a file of its own with `nvprof --log-file FILE.%p`",
    )


def _take_units(
    file: InputFile, layout: Layout, cells: tuple[str, ...], offset: int, units: dict[str, int]
) -> None:
    """Put the nanoseconds of the unit of each time into ``units``, from the row of units at ``offset``."""
    units |= {title: _UNITS.get(unit.strip(), 0) for title, unit in zip(layout.header, cells, strict=False)}
    lacking = [title for title in (*_TIMES, *_GRID, *_BLOCK, "Name") if title not in layout.header]
    untimed = [title for title in _TIMES if not units.get(title)]
    if lacking or untimed:
        raise ProfileError(
            f"the header of the GPU trace has no column {lacking[0]}"
            if lacking
            else "the row under the header does not say in which unit of time this is",
            path=file.path,
            row=lines_before(file, offset) + (not lacking),
            column=None if lacking else untimed[0],
            remedy="print the trace again with `nvprof --print-gpu-trace --csv --log-file FILE`",
        )


def _of_columns(file: InputFile, layout: Layout, offset: int, text: bytes) -> Rows:
    """Return rows printed in columns: two blanks or more between cells."""
    from pyarrow import compute

    mark = np.uint8(ord(_BETWEEN_CELLS))
    characters = np.frombuffer(text, dtype=np.uint8)
    blank = characters == ord(" ")
    again = blank & np.append(False, blank[:-1])
    marked = np.where(blank & ~again & np.append(blank[1:], False), mark, characters)[~again]
    lines = b"\n" + marked.tobytes()
    for at_start in (_BETWEEN_CELLS.encode(), b" "):
        lines = lines.replace(b"\n" + at_start, b"\n")
    if (rows := parse_plain(file, layout, offset, lines[1:])) is not None:
        return rows
    # A name may hold two blanks.
    bare = compute.replace_substring_regex(lines_of(text), pattern="^ +", replacement="")
    most = len(layout.header) - 1
    cells = compute.replace_substring_regex(
        bare, pattern=" {2,}", replacement=_BETWEEN_CELLS, max_replacements=most
    )
    return parse(file, layout, offset, joined_lines(cells))


def _times_with_units(rows: Rows, title: str) -> IntArray:
    """Return (n,) nanoseconds of a column whose cells have a unit each."""
    import pyarrow as pa
    from pyarrow import compute

    distinct, codes = rows.codes(title)
    known = r"^\d+\.?\d*(" + "|".join(_UNITS) + ")$"
    bad = first_true(compute.invert(compute.match_substring_regex(distinct, known)))
    if bad >= 0:
        shown = distinct[bad].as_py().decode("utf-8", "replace")
        rows.refuse(codes == bad, title, f"{shown!r} is not a time with a unit that is known")
    cells = distinct.cast(pa.string())
    units = compute.ascii_ltrim(cells, string.digits + ".").dictionary_encode()
    factor = np.array([_UNITS[unit] for unit in units.dictionary.to_pylist()])[to_numpy(units.indices)]
    time_ns = to_numpy(compute.ascii_rtrim(cells, string.ascii_letters).cast(pa.float64())) * factor
    rows.refuse((time_ns >= float(MOST_NS))[codes], title, "is not a time that fits")
    whole: IntArray = np.rint(time_ns).astype(np.int64)
    return whole[codes]


def _numbered_names(rows: Rows, kernels: KernelTable) -> tuple[NDArray[np.int32], IntArray | None]:
    """Return (n,) name codes and (n,) the numbers behind the names, None where a name has none."""
    import pyarrow as pa
    from pyarrow import compute

    distinct, codes = rows.codes("Name")
    number: IntArray | None = None
    # A search for the last bracket is quick; it suits where every name has its number.
    split = compute.split_pattern(distinct, " [", max_splits=1, reverse=True)
    if compute.all(compute.equal(compute.list_value_length(split), 2)).as_py():
        places = np.arange(0, 2 * len(distinct), 2)
        name, digits = (split.flatten().take(to_arrow(places + half)) for half in (0, 1))
        with suppress(pa.ArrowInvalid):
            digits = compute.ascii_rtrim(digits.cast(pa.string()), "] \r")
            number = to_numpy(digits.cast(pa.int64()))[codes]
    if number is None:
        name, digits = compute.extract_regex(distinct, _NAME).flatten()
        if to_numpy(compute.greater(compute.binary_length(digits), 0)).all():
            number = to_numpy(digits.cast(pa.string()).cast(pa.int64()))[codes]
    encoded = name.dictionary_encode()
    spelt = [each.decode("utf-8", "replace") for each in encoded.dictionary.to_pylist()]
    return kernels.names.intern(spelt)[to_numpy(encoded.indices)][codes], number
