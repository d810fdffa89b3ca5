"""nvprof's GPU trace (`nvprof --print-gpu-trace`), printed in columns or as CSV, with what stands around it.

A kernel's name ends with the number of the API call that launched it, and launches are in the order of these
numbers. Where they are missing launches are in the order of their starts, and where starts are equal in that
of the file: starts are printed with six digits, so many are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns, RowsLeftOut
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, RecordingFacts
from sampling.profile.times import NO_START
from sampling.readers.input_file import HEAD_BYTES, InputFile, pieces
from sampling.readers.table import Kind, Layout, Rows, first_line, header_cells, parse
from sampling.readers.table_launches import Launches
from sampling.readers.text_lines import lines_before

FORMAT = "nvprof"

# How many nanoseconds one unit of time is. nvprof chooses one for every cell, or one for a column of CSV.
_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_TIME = r"^\d{1,10}(\.\d*)?(" + "|".join(_UNITS) + ")$"
# A number of six digits stands for any within a hundred thousandth of it, or a tenth of that.
_OF_SIX_DIGITS = 100_000
_GRID, _BLOCK = ("Grid X", "Grid Y", "Grid Z"), ("Block X", "Block Y", "Block Z")
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
_PRINT_AGAIN = "print the trace again with `nvprof --print-gpu-trace --log-file FILE.%p`"
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
    """Return the kernels of the trace as launches; None where there is no trace.

    Raises ProfileError: there is more than one GPU trace; a row does not fit the header; there is no kernel.
    """
    from pyarrow import compute

    launches = Launches(file, kernels)
    order: LaunchOrder = "correlation"
    device_numbers: dict[str, int] = {}
    devices: dict[int, Device] = {}
    units: dict[str, int] = {}
    has_header = False
    for part in _tables(file, progress, units, launches.left_out):
        has_header = True
        if part is None:
            continue
        is_csv = bool(units)
        if not is_csv:
            part = launches.sized(part, "Grid Size", "Block Size")  # noqa: PLW2901
        distinct, codes = part.codes("Name")
        has_grid = part.has_value("Grid X") if is_csv else part.sizes("Grid Size")[0] > 0
        rows = part.where(has_grid & ~to_numpy(compute.starts_with(distinct, "[CUDA mem"))[codes])
        if not len(rows):
            continue
        if is_csv:
            start, duration = _TIMES
            rows, duration_ns = launches.lasting(rows, duration, units[duration])
            start_ns = rows.times(start, units[start], empty=NO_START)
            grid, block = ([rows.numbers(axis) for axis in axes] for axes in (_GRID, _BLOCK))
        else:
            for title in _TIMES:
                rows = launches.usable(rows, *_no_times(rows, title))
            start_ns, duration_ns = (_times_with_units(rows, title) for title in _TIMES)
            grid, block = rows.sizes("Grid Size"), rows.sizes("Block Size")
            rows.refuse(block[0] == 0, "Block Size", "a kernel without blocks")
        name, number = _numbered_names(rows, kernels)
        correlation = rows.if_complete("Correlation_ID")
        if number is None and correlation is None:
            order = "gpu-start"
        launches.add(
            LaunchColumns(
                name=name,
                duration_ns=duration_ns,
                order=number if correlation is None else correlation,
                device=_device(rows, device_numbers, devices),
                grid=grid,
                block=block,
                start_ns=start_ns,
                start_step_ns=start_ns // _OF_SIX_DIGITS,
                stream=rows.if_complete("Stream"),
            )
        )
    if not has_header:
        return None
    described = tuple(devices[number] for number in sorted(devices))
    facts = RecordingFacts(devices=described, launch_order=order, product="nvprof")
    return launches.finish(FORMAT, facts, _NOTHING)


def _device(rows: Rows, numbers: dict[str, int], devices: dict[int, Device]) -> NDArray[np.int32] | None:
    """Return (n,) the numbers of the GPUs; new ones are added to ``numbers`` by text, and to ``devices``."""
    if "Device" not in rows:
        return None
    texts, codes = rows.texts("Device")
    for text in texts:
        # Printed in columns a name may lack its number: each is a GPU then.
        match = _DEVICE.fullmatch(text)
        place = numbers.setdefault(text, int(match["number"]) if match else len(numbers))
        devices[place] = Device(place, match["name"] if match else text.strip())
    return np.array([numbers[text] for text in texts], dtype=np.int32)[codes]


def _tables(
    file: InputFile, progress: Progress | None, units: dict[str, int], left_out: RowsLeftOut
) -> Iterator[Rows | None]:
    """Yield None for the header, then the rows under it; the units of CSV are put into ``units``."""

    def refused(offset: int, message: str) -> ProfileError:
        return ProfileError(message, path=file.path, row=lines_before(file, offset) + 1, remedy=_PRINT_AGAIN)

    layout: Layout | None = None
    has_ended = False
    for offset, text in pieces(file, progress):
        start = 0
        if layout is None or has_ended:
            header = _HEADER.search(text)
            if not header:
                continue
            if has_ended:
                raise refused(offset + header.start(), "holds a second GPU trace of nvprof")
            layout, start = _layout(header, partial(refused, offset + header.start())), header.end()
            yield None
        if layout.separator == "," and not units and text[start:]:
            below = first_line(text[start:])
            named = zip(layout.header, header_cells(below), strict=False)
            units |= {title: _UNITS.get(unit.strip(), 0) for title, unit in named}
            lacking = {*_GRID, *_BLOCK, "Name"} - layout.columns.keys()
            if lacking or not all(map(units.get, _TIMES)):
                raise refused(offset + start, "the header of the GPU trace lacks a column or a unit of time")
            start += len(below)
        rows, has_ended = _until_end(text, start)
        if has_ended and (second_header := _HEADER.search(text, start + len(rows))):
            raise refused(offset + second_header.start(), "holds a second GPU trace of nvprof")
        if rows.strip():
            rows = rows if layout.separator == "," else _marked(rows)
            yield parse(file, layout, offset + start, rows, left_out=left_out)


def _layout(header: re.Match[bytes], refused: Callable[[str], ProfileError]) -> Layout:
    is_csv = header["csv"] is not None
    line = header["csv"] if is_csv else re.sub(rb" {2,}", b",", header["columns"].strip())
    titles = header_cells(line.strip())
    kinds = _CSV_KINDS if is_csv else _COLUMN_KINDS
    columns = {title: (titles.index(title), kind) for title, kind in kinds.items() if title in titles}
    if not is_csv and {*_TIMES, "Grid Size", "Block Size", "Name"} - columns.keys():
        raise refused("the header of the GPU trace lacks a column")
    return Layout(titles, columns, "," if is_csv else _BETWEEN_CELLS, remedy=_PRINT_AGAIN)


def _until_end(text: bytes, start: int) -> tuple[bytes, bool]:
    """Return the rows from a place on, and whether the trace ends within the text."""
    ends = [place + 1 for end in _ENDS if (place := text.find(b"\n" + end, max(start - 1, 0))) >= 0]
    ends += [start] * text.startswith(_ENDS, start)
    return text[start : min(ends, default=len(text))], bool(ends)


def _marked(text: bytes) -> bytes:
    """Return lines printed in columns with a mark in place of each two blanks or more."""
    characters = np.frombuffer(text, dtype=np.uint8)
    blank = characters == ord(" ")
    repeated = blank & np.append(False, blank[:-1])
    is_gap = blank & ~repeated & np.append(blank[1:], False)
    marked = np.where(is_gap, np.uint8(ord(_BETWEEN_CELLS)), characters)[~repeated]
    lines: bytes = b"\n" + marked.tobytes()
    return lines.replace(b"\n" + _BETWEEN_CELLS.encode(), b"\n").replace(b"\n ", b"\n")[1:]


def _no_times(rows: Rows, title: str) -> tuple[BoolArray, str, str]:
    """Return (n,) which cells of a column are no times with a unit, the column, and what the first is."""
    from pyarrow import compute

    distinct, codes = rows.codes(title)
    wrong = to_numpy(compute.invert(compute.match_substring_regex(distinct, _TIME)))[codes]
    first = distinct[int(codes[np.argmax(wrong)])].as_py() if wrong.any() else b""
    return wrong, title, f"{first.decode('utf-8', 'replace')!r} is not a time with a unit that is known"


def _times_with_units(rows: Rows, title: str) -> IntArray:
    """Return (n,) nanoseconds of a column whose cells have a unit each."""
    import pyarrow as pa
    from pyarrow import compute

    distinct, codes = rows.codes(title)
    cells = distinct.cast(pa.string())
    units = compute.ascii_ltrim(cells, string.digits + ".").to_pylist()
    numbers = to_numpy(compute.ascii_rtrim(cells, string.ascii_letters).cast(pa.float64()))
    time_ns: IntArray = np.rint(numbers * np.array([_UNITS[unit] for unit in units])).astype(np.int64)
    return time_ns[codes]


def _numbered_names(rows: Rows, kernels: KernelTable) -> tuple[NDArray[np.int32], IntArray | None]:
    """Return (n,) name codes and (n,) the numbers behind the names, None where a name has none."""
    import pyarrow as pa
    from pyarrow import compute

    distinct, codes = rows.codes("Name")
    # A search for the last bracket is quick; it suits where every name has its number.
    split = compute.split_pattern(distinct, " [", max_splits=1, reverse=True)
    number: IntArray | None = None
    if compute.all(compute.equal(compute.list_value_length(split), 2)).as_py():
        name, digits = (
            split.flatten().take(to_arrow(np.arange(half, 2 * len(distinct), 2))) for half in (0, 1)
        )
        with suppress(pa.ArrowInvalid):
            number = to_numpy(compute.ascii_rtrim(digits.cast(pa.string()), "] \r").cast(pa.int64()))[codes]
    if number is None:
        name, digits = compute.extract_regex(distinct, _NAME).flatten()
        if compute.all(compute.greater(compute.binary_length(digits), 0)).as_py():
            number = to_numpy(digits.cast(pa.string()).cast(pa.int64()))[codes]
    encoded = name.dictionary_encode()
    spelt = [text.decode("utf-8", "replace") for text in encoded.dictionary.to_pylist()]
    return kernels.names.intern(spelt)[to_numpy(encoded.indices)][codes], number
