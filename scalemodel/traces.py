"""Address traces: which cache lines a program touches, in order, and over how many instructions.

Text: one address a line, decimal, or hexadecimal after ``0x``; ``#`` starts a comment. CSV: a row an
access, with a column ``address`` and, if there is one, ``size`` in bytes. Binary: little-endian unsigned
integers of 64 bits or of 32. Accel-Sim's: `accel_sim`; a folder of them, or the list that Accel-Sim is
given, stands for its kernels.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from scalemodel import accel_sim
from scalemodel.accesses import AddressArray, AddressTrace, lines_of, lines_touched
from scalemodel.errors import InputError, OptionError, Place
from scalemodel.files import InputFile, open_file
from scalemodel.measurements import TraceFormat

_ADDRESS, _SIZE = "address", "size"
_REMEDY = (
    "give one address a line, a CSV with a column address, a .traceg of Accel-Sim, or name the format: "
    "binary or binary32"
)
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LIST_STARTS = (b"kernel-", b"Memcpy")
_KERNEL = re.compile(r"kernel-(\d+).*\.traceg(\.xz|\.gz)?$")
# Of a text: a comment with the blanks before it, or a line of blanks.
_COMMENT = re.compile(rb"[ \t\r]*#[^\n]*|^[ \t\r]+$", re.MULTILINE)
_ADDRESS_LINE = re.compile(rb"\s*(0[xX][0-9a-fA-F]+|[0-9]+)\s*")
# What Arrow says of a row with too few or too many cells, and of a cell that is no such number.
_ROW = re.compile(r"(?:column #(\d+): )?Row #(\d+): (.*)", re.DOTALL)


def read_address_trace(
    paths: Sequence[str],
    *,
    trace_format: TraceFormat | None = None,
    line_bytes: int = 128,
) -> AddressTrace:
    """Read one trace from files, one after the other in the order given.

    Parameters
    ----------
    paths : "-" for standard input; a folder or a list of kernels stands for its traces.
    trace_format : of all files; None recognises each by its content. Binary must be named.
    line_bytes : a power of two. An access to several lines counts once for each.

    Raises InputError: a file cannot be read, is of no known format, or breaks its format's grammar; no file
    has an access; OptionError: there is no path, or the line size is no power of two.
    """
    if not paths:
        raise OptionError("no trace is given")
    if line_bytes < 1 or line_bytes & (line_bytes - 1):
        raise OptionError(f"the bytes of a cache line are a power of two, not {line_bytes}")
    parts: list[AddressTrace] = []
    waiting = list(paths)
    while waiting:
        path = waiting.pop(0)
        if Path(path).is_dir():
            waiting = [*_traces_in(path), *waiting]
            continue
        with open_file(path) as file:
            if trace_format is None and file.head.startswith(_LIST_STARTS):
                waiting = [*_traces_listed(file), *waiting]
            else:
                parts.append(_READERS[trace_format or _recognised(file)](file, line_bytes))
    line = np.concatenate([part.line for part in parts])
    if not line.size:
        raise InputError("has no access to memory", Place(", ".join(paths)))
    # Instructions are known where every part says them.
    threads = [part.thread_instructions for part in parts if part.thread_instructions is not None]
    warps = [part.warp_instructions for part in parts if part.warp_instructions is not None]
    if len(threads) < len(parts):
        return AddressTrace(line, line_bytes)
    return AddressTrace(line, line_bytes, sum(threads), sum(warps))


def _traces_in(folder: str) -> list[str]:
    """Return the traces of a folder: its list of kernels where there is one, else its kernels by number."""
    if (Path(folder) / "kernelslist.g").is_file():
        return [str(Path(folder) / "kernelslist.g")]
    named = ((_KERNEL.fullmatch(path.name), path) for path in Path(folder).iterdir())
    found = sorted((int(match[1]), str(path)) for match, path in named if match)
    if not found:
        remedy = "give one with kernelslist.g or kernel-1.traceg in it, or the files, in order"
        raise InputError("is a folder without traces of Accel-Sim", Place(folder), remedy=remedy)
    return [path for _, path in found]


def _traces_listed(file: InputFile) -> list[str]:
    """Return the traces that a list of kernels names, beside it; copies to the GPU are left out."""
    text = b"".join(file.line_pieces()).decode("utf-8", "replace")
    found = []
    for row, line in enumerate(text.splitlines(), 1):
        name = line.strip()
        if not name or name.startswith(("#", "Memcpy")):
            continue
        beside = Path(file.path).parent / name
        there = next((path for end in ("", ".xz", ".gz") if (path := Path(f"{beside}{end}")).is_file()), None)
        if there is None or file.path == "-":
            what = f"lists {name!r}, which is no file beside it"
            remedy = "give the list where its traces lie, grouped by Accel-Sim's post-traces-processing"
            raise InputError(what, Place(file.path, row), remedy=remedy)
        found.append(str(there))
    return found


def _recognised(file: InputFile) -> TraceFormat:
    """Return the format the file's first bytes are of."""
    head = file.head
    if head.startswith(_ZSTD_MAGIC):
        remedy = "decompress it; for a .tracez write the trace as --text"
        raise InputError("is compressed by zstd", Place(file.path), remedy=remedy)
    if accel_sim.recognises(head):
        return TraceFormat.ACCEL_SIM
    if _ADDRESS in _header(head):
        return TraceFormat.CSV
    first = next((bare for line in head.split(b"\n") if (bare := _COMMENT.sub(b"", line).strip())), b"")
    if _ADDRESS_LINE.fullmatch(first):
        return TraceFormat.TEXT
    what = "is not a trace in a known format" if head else "is empty"
    raise InputError(what, Place(file.path), remedy=_REMEDY)


def _of_binary(file: InputFile, line_bytes: int, width: int) -> AddressTrace:
    content = b"".join(file.line_pieces())
    if len(content) % width:
        what = f"its bytes, {len(content):,}, are no whole number of {width}-byte addresses"
        remedy = f"write little-endian unsigned {8 * width}-bit integers, nothing else"
        raise InputError(what, Place(file.path), remedy=remedy)
    address = np.frombuffer(content, dtype=f"<u{width}").astype(np.uint64, copy=False)
    return AddressTrace(lines_of(address, line_bytes), line_bytes)


def _header(head: bytes) -> list[str]:
    """Return the names in the first line, in small letters, without blanks around them."""
    line = head.partition(b"\n")[0].decode("utf-8-sig", "replace")
    try:
        cells = next(csv.reader([line]), [])
    except csv.Error:  # a carriage return amid the line, or a cell beyond what csv takes: no header
        cells = []
    return [cell.strip().lower() for cell in cells]


def _of_rows(file: InputFile, line_bytes: int, *, is_text: bool) -> AddressTrace:
    """Read a CSV, or a text as a CSV of one column whose empty rows are left out."""
    header = [_ADDRESS] if is_text else _header(file.head)
    if _ADDRESS not in header:
        raise InputError("no column address", Place(file.path, 1))
    lines, row = [np.zeros(0, dtype=np.uint64)], 1
    for piece in file.line_pieces():
        text = _COMMENT.sub(b"", piece) if is_text else piece
        first = row
        if row == 1 and not is_text:
            text, first = text.partition(b"\n")[2], 2
        if text.strip() or (text and not is_text):
            lines.append(_lines_in(text, Place(file.path, first), header, line_bytes, is_text=is_text))
        row += piece.count(b"\n")
    return AddressTrace(np.concatenate(lines), line_bytes)


def _lines_in(
    text: bytes, first: Place, header: list[str], line_bytes: int, *, is_text: bool
) -> AddressArray:
    """Return the lines that rows touch, the first of them at a place; InputError where one is wrong."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    wanted = {name: str(header.index(name)) for name in (_ADDRESS, _SIZE) if name in header}
    wrong, column = None, None
    try:
        table = read_csv(
            io.BytesIO(text),
            # Rows are numbered only where they are parsed one after the other.
            ReadOptions(use_threads=False, column_names=list(map(str, range(len(header))))),
            ParseOptions(ignore_empty_lines=False),
            ConvertOptions(
                include_columns=list(wanted.values()),
                column_types=dict.fromkeys(wanted.values(), pa.uint64()),
                null_values=[""],
            ),
        )
    except pa.ArrowInvalid as error:
        if (found := _ROW.search(str(error))) is None:
            raise InputError(f"is no table ({error})", first._replace(row=None)) from error
        wrong, what, column = int(found[2]) - 1, found[3], found[1] and header[int(found[1])]
    else:
        table = table.drop_null() if is_text else table
        address, *sizes = (each.fill_null(0).to_numpy() for each in table.columns)
        size = sizes[0] if sizes else np.ones_like(address)
        is_wrong = (size == 0) | (address + (size - np.uint64(1)) < address)
        column, what = _SIZE, "is no number of bytes above 0 that ends within 64 bits"
        if table.column(0).null_count:
            is_wrong, column, what = table.column(0).is_null().to_numpy(), _ADDRESS, "is empty"
        if not is_wrong.any():
            return lines_touched(address, size, line_bytes)[0]
        wrong = int(np.argmax(is_wrong))
    place = first._replace(row=(first.row or 1) + wrong, column=column)
    remedy = "write addresses below 2^64, decimal or hexadecimal after 0x, in a CSV bytes of 1 or more"
    raise InputError(what, place, remedy=remedy)


_READERS: dict[TraceFormat, Callable[[InputFile, int], AddressTrace]] = {
    TraceFormat.ACCEL_SIM: accel_sim.read,
    TraceFormat.CSV: partial(_of_rows, is_text=False),
    TraceFormat.TEXT: partial(_of_rows, is_text=True),
    TraceFormat.BINARY: partial(_of_binary, width=8),
    TraceFormat.BINARY_32: partial(_of_binary, width=4),
}
