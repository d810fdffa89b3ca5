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

from sampling.errors import OptionError, ProfileError
from sampling.readers.accel_sim_traces import LIST, find_trace_folder, listed_traces
from sampling.readers.accel_sim_traces import recognise as is_trace_list
from sampling.readers.input_file import InputFile, open_input, pieces
from scalemodel import accel_sim
from scalemodel.accesses import AddressArray, AddressTrace, cache_lines, lines_touched
from scalemodel.measurements import TraceFormat

_ADDRESS, _SIZE = "address", "size"
_REMEDY = (
    "give one address a line, a CSV with a column address, a trace of Accel-Sim, or name the format: "
    "binary or binary32"
)
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_KERNEL = re.compile(r"kernel-(\d+).*\.(traceg(\.xz|\.gz)?|tracez)$")
# Of a text: a comment with the blanks before it, or a line of blanks.
_COMMENT = re.compile(rb"[ \t\r]*#[^\n]*|^[ \t\r]+$", re.MULTILINE)
_ADDRESS_LINE = re.compile(rb"\s*(0[xX][0-9a-fA-F]+|[0-9]+)\s*")
# What Arrow says of a row with too few or too many cells, and of a cell that is no such number.
_ROW = re.compile(r"(?:column #(\d+): )?Row #(\d+): (.*)", re.DOTALL)


def read_address_trace(
    paths: Sequence[str], *, trace_format: TraceFormat | None = None, line_bytes: int = 128
) -> AddressTrace:
    """Read one trace from files, one after the other in the order given.

    Parameters
    ----------
    paths : "-" for standard input; a folder or a list of kernels stands for its traces.
    trace_format : of all files; None recognises each by its content. Binary must be named.
    line_bytes : a power of two. An access to several lines counts once for each.

    Raises ProfileError: a file cannot be read, is of no known format, or breaks its format's grammar; no file
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
        with open_input(path) as file:
            if trace_format is None and is_trace_list(file):
                waiting = [*(str(trace) for _, trace in listed_traces(file)), *waiting]
            else:
                parts.append(_READERS[trace_format or _recognised(file)](file, line_bytes))
    line = np.concatenate([part.line for part in parts])
    if not line.size:
        raise ProfileError("has no access to memory", path=", ".join(paths))
    # Instructions are known where every part says them.
    threads = [part.thread_instructions for part in parts if part.thread_instructions is not None]
    warps = [part.warp_instructions for part in parts if part.warp_instructions is not None]
    if len(threads) < len(parts):
        return AddressTrace(line, line_bytes)
    return AddressTrace(line, line_bytes, sum(threads), sum(warps))


def _traces_in(folder: str) -> list[str]:
    """Return the traces of a folder: its list of kernels where there is one, else its kernels by number."""
    place = find_trace_folder(folder, LIST)
    if (place / LIST).is_file():
        return [str(place / LIST)]
    named = ((_KERNEL.fullmatch(path.name), path) for path in place.iterdir())
    traces = sorted((int(match[1]), str(path)) for match, path in named if match)
    if not traces:
        remedy = "give one with kernelslist.g or kernel-1.traceg in it, or the files, in order"
        raise ProfileError("is a folder without traces of Accel-Sim", path=folder, remedy=remedy)
    return [path for _, path in traces]


def _recognised(file: InputFile) -> TraceFormat:
    """Return the format the file's first bytes are of."""
    head = file.head
    if head.startswith(_ZSTD_MAGIC):
        raise ProfileError("is compressed by zstd", path=file.path, remedy="decompress it")
    if accel_sim.recognises(head):
        return TraceFormat.ACCEL_SIM
    if _ADDRESS in _header(head):
        return TraceFormat.CSV
    first = next((bare for line in head.split(b"\n") if (bare := _COMMENT.sub(b"", line).strip())), b"")
    if _ADDRESS_LINE.fullmatch(first):
        return TraceFormat.TEXT
    message = "is not a trace in a known format" if head else "is empty"
    raise ProfileError(message, path=file.path, remedy=_REMEDY)


def _read_binary(file: InputFile, line_bytes: int, width: int) -> AddressTrace:
    with file.open() as stream:
        content = stream.read()
    if len(content) % width:
        message = f"its bytes, {len(content):,}, are no whole number of {width}-byte addresses"
        remedy = f"write little-endian unsigned {8 * width}-bit integers, nothing else"
        raise ProfileError(message, path=file.path, remedy=remedy)
    address = np.frombuffer(content, dtype=f"<u{width}").astype(np.uint64, copy=False)
    return AddressTrace(cache_lines(address, line_bytes), line_bytes)


def _header(head: bytes) -> list[str]:
    """Return the names in the first line, in small letters, without blanks around them."""
    line = head.partition(b"\n")[0].decode("utf-8-sig", "replace")
    try:
        cells = next(csv.reader([line]), [])
    except csv.Error:  # a carriage return amid the line, or a cell beyond what csv takes: no header
        cells = []
    return [cell.strip().lower() for cell in cells]


def _read_rows(file: InputFile, line_bytes: int, *, is_text: bool) -> AddressTrace:
    """Read a CSV, or a text as a CSV of one column whose empty rows are left out."""
    header = [_ADDRESS] if is_text else _header(file.head)
    if _ADDRESS not in header:
        raise ProfileError("no column address", path=file.path, row=1)
    lines, row = [np.zeros(0, dtype=np.uint64)], 1
    for _, piece in pieces(file):
        text = _COMMENT.sub(b"", piece) if is_text else piece
        first = row
        if row == 1 and not is_text:
            text, first = text.partition(b"\n")[2], 2
        if text.strip() or (text and not is_text):
            lines.append(_touched_lines(text, file.path, first, header, line_bytes, is_text=is_text))
        row += piece.count(b"\n")
    return AddressTrace(np.concatenate(lines), line_bytes)


def _touched_lines(
    text: bytes, path: str, first_row: int, header: list[str], line_bytes: int, *, is_text: bool
) -> AddressArray:
    """Return the lines that rows touch, the first of them in a row; ProfileError where one is wrong."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    indices = {name: str(header.index(name)) for name in (_ADDRESS, _SIZE) if name in header}
    wrong, column = None, None
    try:
        table = read_csv(
            io.BytesIO(text),
            # Rows are numbered only where they are parsed one after the other.
            ReadOptions(use_threads=False, column_names=list(map(str, range(len(header))))),
            ParseOptions(ignore_empty_lines=False),
            ConvertOptions(
                include_columns=list(indices.values()),
                column_types=dict.fromkeys(indices.values(), pa.uint64()),
                null_values=[""],
            ),
        )
    except pa.ArrowInvalid as error:
        if (match := _ROW.search(str(error))) is None:
            raise ProfileError(f"is no table ({error})", path=path) from error
        wrong, message, column = int(match[2]) - 1, match[3], match[1] and header[int(match[1])]
    else:
        table = table.drop_null() if is_text else table
        address, *sizes = (column.fill_null(0).to_numpy() for column in table.columns)
        size = sizes[0] if sizes else np.ones_like(address)
        is_wrong = (size == 0) | (address + (size - np.uint64(1)) < address)
        column, message = _SIZE, "is no number of bytes above 0 that ends within 64 bits"
        if table.column(0).null_count:
            is_wrong, column, message = table.column(0).is_null().to_numpy(), _ADDRESS, "is empty"
        if not is_wrong.any():
            return lines_touched(address, size, line_bytes)[0]
        wrong = int(np.argmax(is_wrong))
    remedy = "write addresses below 2^64, decimal or hexadecimal after 0x, in a CSV bytes of 1 or more"
    raise ProfileError(message, path=path, row=first_row + wrong, column=column, remedy=remedy)


_READERS: dict[TraceFormat, Callable[[InputFile, int], AddressTrace]] = {
    TraceFormat.ACCEL_SIM: accel_sim.read,
    TraceFormat.CSV: partial(_read_rows, is_text=False),
    TraceFormat.TEXT: partial(_read_rows, is_text=True),
    TraceFormat.BINARY: partial(_read_binary, width=8),
    TraceFormat.BINARY_32: partial(_read_binary, width=4),
}
