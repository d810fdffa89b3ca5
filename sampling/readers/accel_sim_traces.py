"""What Accel-Sim's tracer wrote: traces and their heads, ``stats.csv``, and a list of traces as a profile.

``kernelslist.g`` names one trace a line, in launch order, with ``MemcpyHtoD,ADDRESS,BYTES`` lines between
them. A trace is ``kernel-N.traceg``, of newer tracers ``kernel-N-ctx_0x....tracez``, or with the layer of a
network behind N, counted from 1; ``.xz`` may follow. It begins with ``-key = value`` lines that say which
kernel it is of. ``stats.csv`` has a row a launch of one context, traced or not, in their order; a launch that
was not traced has a count of 0. Traces have no times: with those published from Accel-Sim 2.0.1 on comes what
Nsight Compute measured, a row a trace (its release notes; not tried on such a set), which run_hw.py writes
above the folder ``traces``; else warp instructions stand for time.
"""

from __future__ import annotations

import lzma
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from sampling.arrays import FloatArray, IntArray, dense_codes, to_arrow_texts, to_numpy
from sampling.errors import ProfileError
from sampling.parallel import Progress, ordered_map
from sampling.profile.names import MANGLED, readable_name, short_name
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import ncu
from sampling.readers.cells import WRITTEN, parse_sizes
from sampling.readers.feature_table import (
    Durations,
    FeatureRows,
    coded_names,
    instruction_rows,
    measured_profile,
    read_columns,
)
from sampling.readers.input_file import Compression, InputFile, check_there, inflated, open_input, whole_lines
from sampling.readers.table import Kind, first_line, header_cells
from sampling.readers.tracez import PackedTrace
from sampling.reduction.launch_list import Features
from sampling.text import counted, shortened

FORMAT = "accel-sim-traces"
LIST = "kernelslist.g"
#: The name of a trace, with its number, in whichever form
TRACE = re.compile(r"kernel-(\d{1,18})(?:-\S+?)?\.trace[gz]?(?:\.xz|\.gz)?")
_FIRST_LINE = re.compile(rb"\s*(?:%s|MemcpyHtoD,0x[0-9a-fA-F]+,\d+)\s*?(?:\r?\n|\Z)" % TRACE.pattern.encode())
# A trace may have been packed, or made ready for the simulator, since its name was written into a list.
_ENDINGS = ("", ".gz", ".xz", "g", "g.gz", "g.xz", "z")
_HEAD_BYTES = 1 << 14
_COUNT = re.compile(rb"^insts = (\d{1,18})\s*$", re.MULTILINE)
_AGAIN = "give the traces as the tracer wrote them"
_LIST_REMEDY = "give a list beside its traces, or the stats.csv that the tracer wrote"
_PAGE = "give what was measured of these very launches, a row each, or take it away: instructions count then"

_ID, _NAME = "kernel id", "kernel mangled name"
_GRID, _BLOCK = ([f"{what}_dim{axis}" for axis in "XYZ"] for what in ("grid", "block"))
# Warp instructions of a launch, and those of them that went into its trace; 0 for a launch not traced.
_TOTAL, _REPORTED = "total_insts", "total_reported_insts"
#: What to do about a wrong stats.csv
REMEDY = "give the stats.csv that the tracer wrote beside the traces"


def trace_file(folder: Path, name: str) -> Path | None:
    """Return the file of a trace that a list names; None where there is none."""
    return next((path for end in _ENDINGS if (path := folder / f"{name}{end}").is_file()), None)


def find_trace_folder(path: str, holds: str) -> Path:
    """Return the folder of the traces, which ``holds`` a file of this name: ``traces`` may stand in it twice.

    Raises ProfileError: it is not there, is no folder, or cannot be read.
    """
    check_there(path)
    if not Path(path).is_dir():
        raise ProfileError("no folder, which traces are in", path=path, remedy=f"give the folder of {holds}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise ProfileError("cannot be read (Permission denied)", path=path)
    folder = Path(path)
    for _ in range(2):
        is_found = (folder / holds).exists() or any(folder.glob("kernel-*"))
        folder = folder if is_found or not (folder / "traces").is_dir() else folder / "traces"
    return folder


def trace_head(file: Path) -> dict[str, str]:
    """Return what the lines at a trace's start say.

    Raises ProfileError where it cannot be unpacked, or does not begin like a trace.
    """
    wrong, head = "does not begin like a trace", {}
    try:
        with opened(file) as stream:
            text = stream.read(_HEAD_BYTES).decode("utf-8", "replace")
        for line in filter(str.strip, text.split("\n")):
            if not line.startswith("-"):
                break
            key, _, value = line[1:].partition(" = ")
            head[key] = value.strip()
    except (OSError, EOFError, lzma.LZMAError) as error:
        wrong = f"cannot be read ({error})"
    if "kernel name" not in head:
        raise ProfileError(wrong, path=file, remedy=_AGAIN)
    return head


def opened(file: Path) -> IO[bytes]:
    """Return a trace to be read, unpacked by the ending of its name."""
    kinds: dict[str, Compression] = {".gz": "gzip", ".xz": "xz", ".tracez": "tracez"}
    kind = kinds.get(file.suffix)
    stream = file.open("rb")
    return stream if kind is None else inflated(stream, file, kind)


def is_stats(head: bytes) -> bool:
    """Return whether a file that starts like this has the header of stats.csv."""
    return {_ID, _NAME} <= {cell.strip() for cell in header_cells(first_line(head))}


def listed_traces(file: InputFile) -> list[tuple[int, Path]]:
    """Return number and file of each trace that a list names; ProfileError where one is not there."""
    with file.open() as stream:
        lines = stream.read().decode("utf-8", "replace").splitlines()
    listed = []
    for row, line in enumerate(map(str.strip, lines), start=1):
        if match := TRACE.fullmatch(line):
            path = trace_file(file.location.parent, line)
            if path is None:
                raise ProfileError(f"{line} is not there", path=file.path, row=row, remedy=_LIST_REMEDY)
            listed.append((int(match[1]), path))
    return listed


def count_instructions(file: Path) -> int:
    """Return the warp instructions that a trace holds, by its index where it is packed, without unpacking.

    Raises ProfileError: it is damaged, or not grouped by warps, so that it counts none.
    """
    try:
        if file.suffix == ".tracez":
            with file.open("rb") as packed:
                return PackedTrace(packed).instructions()
        with opened(file) as stream:
            pieces = whole_lines(stream, file, _AGAIN)
            counts = [int(count) for piece in pieces for count in _COUNT.findall(piece)]
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ProfileError(f"cannot be read ({error})", path=file, remedy=_AGAIN) from error
    if not counts:
        remedy = "put the stats.csv of the tracer beside it, or give traces that post-traces-processing made"
        raise ProfileError("does not count its instructions", path=file, remedy=remedy)
    return sum(counts)


def stats_rows(file: InputFile, progress: Progress | None = None) -> FeatureRows:
    """Return the launches of a stats.csv; kernel-N has the launch number N - 1.

    Raises ProfileError: a column is missing, a cell is no number, an id no trace; there is no row.
    """
    import pyarrow as pa
    from pyarrow import compute

    header = tuple(cell.strip() for cell in header_cells(first_line(file.head)))
    numbers = (*_GRID, *_BLOCK, _TOTAL, _REPORTED)
    if lacking := [column for column in (_ID, _NAME, *numbers) if column not in header]:
        raise ProfileError(f"no column {lacking[0]}", path=file.path, row=1, remedy=REMEDY)
    kinds: dict[str, Kind] = dict.fromkeys(numbers, "number")
    kinds |= dict.fromkeys((_ID, _NAME), "text")
    table = read_columns(file, header, ",", kinds, REMEDY, progress)
    distinct, code = table.texts(_ID)
    matches = compute.extract_regex(to_arrow_texts(distinct), r"kernel-(?P<number>\d{1,18})")
    if matches.null_count:
        raise table.error(to_numpy(matches.is_null())[code], _ID, "is no trace kernel-N", REMEDY)
    names, name = table.texts(_NAME)
    total, reported = (table.numbers(column)[0] for column in (_TOTAL, _REPORTED))
    # What went into a trace is at most all of the launch: more of it tells that 32 bits have overflowed.
    has_overflowed = (reported < 0) | (reported > total)
    return instruction_rows(
        file,
        "accel-sim-stats",
        table.line,
        to_numpy(matches.field("number").cast(pa.string()).cast(pa.int64()))[code] - 1,
        np.where(has_overflowed, -1, total),
        names=tuple(map(str.strip, names)),
        name=name,
        grid=table.sizes("grid", _GRID),
        block=table.sizes("block", _BLOCK),
    )


# --- a list as a profile ------------------------------------------------------------------------------------


def recognise(file: InputFile) -> bool:
    """Return whether the first line names a trace or copies memory."""
    return _FIRST_LINE.match(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of the listed traces, in the list's order.

    Raises ProfileError: a trace is not there, or begins or counts like none; what was measured is of other
    launches, or has no duration of one.
    """
    traces, paths = read_traces(file)
    pages = sorted(_pages_beside(file), key=lambda page: -len(page.features.metrics))
    if pages:
        page = _in_order(pages[0], traces, paths)
        durations = ncu.find_durations(page, file)
        if (lacks_one := np.isnan(durations.values)).any():
            message, row = "a launch has no duration", int(page.line[np.argmax(lacks_one)])
            raise ProfileError(message, path=page.path, row=row, column=durations.metric, remedy=_PAGE)
        rows, note = replace(traces, features=page.features), f"durations of {page.path}, row by row"
        return measured_profile(file, kernels, rows, durations, note)
    executed, note = _instructions(file, traces, paths, progress), "no durations: instructions stand for time"
    durations = Durations("instructions", executed, note, "NVIDIA NVBit (instructions)")
    rows = replace(traces, features=Features({"instructions": executed}))
    return measured_profile(file, kernels, rows, durations)


def read_traces(file: InputFile) -> tuple[FeatureRows, list[Path]]:
    """Return numbers, names and sizes of the traces that a list names, from 0, and their files.

    Raises ProfileError: there is none, one is not there or begins like none.
    """
    listed = listed_traces(file)
    if not listed:
        raise ProfileError("lists no launch", path=file.path, remedy=_LIST_REMEDY)
    numbers, paths = zip(*listed, strict=True)
    heads = [*ordered_map(trace_head, paths)]
    grid, block = (_sizes(key, heads, paths) for key in ("grid dim", "block dim"))
    names, name = coded_names([head["kernel name"] for head in heads])
    rows = FeatureRows(file.path, FORMAT, np.arange(len(name)) + 1, Features(), grid=grid, block=block)
    return replace(rows, names=names, name=name, launch_number=np.array(numbers) - 1), [*paths]


def _sizes(key: str, heads: Sequence[Mapping[str, str]], paths: Sequence[Path]) -> IntArray:
    cells = [head.get(key, "") for head in heads]
    sizes, wrong = parse_sizes(cells)
    if wrong >= 0:
        raise ProfileError(f"{key} {cells[wrong]!r} is not {WRITTEN}", path=paths[wrong], remedy=_AGAIN)
    return sizes


def _pages_beside(file: InputFile) -> Iterator[FeatureRows]:
    """Yield the pages of Nsight Compute in the folder of a list, and above it while that is called traces."""
    folder = file.location.absolute().parent
    for place in (folder, *folder.parents):
        # There are thousands of traces.
        paths = (path for path in place.iterdir() if not path.name.startswith("kernel") and path.is_file())
        for path in sorted(paths):
            with open_input(str(path)) as page:
                if ncu.recognise(page):
                    yield ncu.read_rows(page, file.number_locale, None)
        if place.name != "traces":
            return


def _in_order(page: FeatureRows, traces: FeatureRows, paths: Sequence[Path]) -> FeatureRows:
    """Return the rows of a page as they stand in it; ProfileError where they are not those of the traces."""
    if len(page) != len(traces):
        message = f"has {counted(len(page), 'row')} for a list of {counted(len(traces), 'trace')}"
        raise ProfileError(message, path=page.path, remedy=_PAGE)
    page = page.take(np.argsort(page.line, kind="stable"))
    assert page.name is not None
    assert traces.name is not None
    pair, first = dense_codes([page.name, traces.name])
    pairs = [(page.names[page.name[place]], traces.names[traces.name[place]]) for place in first]
    # Demanglers spell all but a function's own name in their ways.
    functions = [{*map(short_name, names)} for names in pairs]
    is_mangled = [any(name.startswith(MANGLED) for name in names) for names in functions]
    differs = np.array([len(names) > 1 for names in functions])[pair] & ~np.array(is_mangled)[pair]
    for measured, traced in ((page.grid, traces.grid), (page.block, traces.block)):
        if measured is not None and traced is not None:
            differs |= ((measured != traced) & (measured > 0) & (traced > 0)).any(axis=1)
    if differs.any():
        place = int(np.argmax(differs))
        kernel, traced_kernel = map(shortened, map(readable_name, pairs[pair[place]]))
        message = f"{kernel} is another kernel, grid or block than {paths[place].name}: {traced_kernel}"
        raise ProfileError(message, path=page.path, row=int(page.line[place]), remedy=_PAGE)
    return page


def _instructions(
    file: InputFile, traces: FeatureRows, paths: Sequence[Path], progress: Progress | None
) -> FloatArray:
    """Return (n,) the warp instructions of each trace: of a single stats.csv, else what it counts itself."""
    executed, folder = np.full(len(paths), np.nan), file.location.parent
    stats = [*folder.glob("stats.csv"), *folder.glob("stats_ctx_*")]
    if len(stats) == 1:
        with open_input(str(stats[0])) as stats_file:
            rows = stats_rows(stats_file)
        assert rows.launch_number is not None
        assert traces.launch_number is not None
        counts = rows.features.metrics["instructions"].tolist()
        count_of = dict(zip(rows.launch_number.tolist(), counts, strict=True))
        executed = np.array([count_of.get(number, np.nan) for number in traces.launch_number.tolist()])
    uncounted = np.flatnonzero(np.isnan(executed)).tolist()
    for number, count in enumerate(ordered_map(count_instructions, [paths[place] for place in uncounted])):
        executed[uncounted[number]] = count
        if progress is not None:
            progress(number + 1, len(uncounted), f"counting the instructions of {file.path}")
    return executed
