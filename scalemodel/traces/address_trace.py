"""Address traces: which cache lines a program touches, in order, and over how many instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from scalemodel.errors import InputError, OptionError, Place
from scalemodel.traces import accel_sim, addresses, csv_table
from scalemodel.traces.accesses import AddressTrace, joined
from scalemodel.traces.trace_file import TraceFile, open_trace

__all__ = ["AddressTrace", "TraceFormat", "read_address_trace"]

_REMEDY = (
    "give one address a line, a CSV with a column address, a .traceg of Accel-Sim, or name the format: "
    "binary or binary32"
)
# The first bytes of what is often given instead, and what to do then.
_NOT_A_TRACE = (
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd", "decompress it; for a .tracez write the trace as --text"),
    (b"kernel-", "is a list of kernels, not a trace", "give the kernels' .traceg files in the list's order"),
    (b"Memcpy", "is a list of kernels, not a trace", "give the kernels' .traceg files in the list's order"),
)


class TraceFormat(StrEnum):
    """The formats that are read; all but the binary ones are recognised by content."""

    TEXT = "text"
    BINARY = "binary"
    BINARY_32 = "binary32"
    CSV = "csv"
    ACCEL_SIM = "traceg"


_ADDRESS_BYTES = {TraceFormat.BINARY: 8, TraceFormat.BINARY_32: 4}


def read_address_trace(
    paths: Sequence[str],
    *,
    trace_format: TraceFormat | None = None,
    line_bytes: int = 128,
    with_local: bool = False,
    tell: Callable[[str], None] | None = None,
) -> AddressTrace:
    """Read one trace from files, one after the other in the order given; compressed by gzip or xz, or not.

    Parameters
    ----------
    paths : the files, "-" for standard input. Accel-Sim writes one a kernel; what a kernel leaves in the
        cache the next one finds there.
    trace_format : of all files; None recognises each by its content. Binary, little-endian unsigned integers
        of 64 bits or of 32, has nothing to recognise it by and must be named.
    line_bytes : bytes of a cache line, a power of two. An access to several lines counts once for each.
    with_local : whether to include accesses to the threads' local memory, for Accel-Sim's traces.
    tell : is told, once, that no file is of a format that ``with_local`` matters for.

    Raises
    ------
    InputError : a file cannot be read, is of no known format, or breaks its format's grammar; no file has an
        access.
    OptionError : there is no path, or the line size is no power of two.
    """
    if not paths:
        raise OptionError("no trace is given")
    if line_bytes < 1 or line_bytes & (line_bytes - 1):
        raise OptionError(f"the bytes of a cache line are a power of two, not {line_bytes}")
    parts, formats = [], set()
    for path in paths:
        with open_trace(path) as file:
            found = trace_format or _recognised(file)
            parts.append(_read(file, found, line_bytes, with_local=with_local))
            formats.add(found)
    trace = joined(parts, line_bytes)
    if not trace.line.size:
        raise InputError("has no access to memory", Place(", ".join(paths)))
    if with_local and tell is not None and TraceFormat.ACCEL_SIM not in formats:
        tell("only Accel-Sim's traces tell local accesses from others")
    return trace


def _read(file: TraceFile, trace_format: TraceFormat, line_bytes: int, *, with_local: bool) -> AddressTrace:
    if trace_format is TraceFormat.ACCEL_SIM:
        return accel_sim.read(file, line_bytes, with_local=with_local)
    if trace_format is TraceFormat.CSV:
        return csv_table.read(file, line_bytes)
    if trace_format in _ADDRESS_BYTES:
        return addresses.read_binary(file, line_bytes, _ADDRESS_BYTES[trace_format])
    return addresses.read_text(file, line_bytes)


def _recognised(file: TraceFile) -> TraceFormat:
    """Return the format the file's first bytes are of."""
    head = file.head
    for start, what, remedy in _NOT_A_TRACE:
        if head.startswith(start):
            raise InputError(what, Place(file.path), remedy=remedy)
    if accel_sim.recognises(head):
        return TraceFormat.ACCEL_SIM
    if csv_table.recognises(head):
        return TraceFormat.CSV
    if addresses.recognises(head):
        return TraceFormat.TEXT
    what = "is not a trace in a known format" if head else "is empty"
    raise InputError(what, Place(file.path), remedy=_REMEDY)
