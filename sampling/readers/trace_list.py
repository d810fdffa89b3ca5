"""A list of Accel-Sim's traces as a profile: by what was measured of them, else by their instructions.

Traces have no times. With those that Accel-Sim publishes, from 2.0.1 on, comes what Nsight Compute measured,
a row for each trace of ``kernelslist.g`` in its order (release notes of 2.0.1; not tried on such a set): the
framework's run_hw.py writes it above the folder ``traces``. Where it is missing, the warp instructions stand
for time that ``stats.csv`` has, or that the traces themselves count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress, ordered_map
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.names import MANGLED, readable_name, short_name
from sampling.profile.profile import KernelTable, Profile, RecordingFacts
from sampling.readers import ncu
from sampling.readers.cells import WRITTEN, parse_sizes
from sampling.readers.feature_table import FeatureRows
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.table_launches import Launches
from sampling.readers.trace_files import count_instructions, listed_traces, stats_rows, trace_head
from sampling.reduction.launch_list import Features
from sampling.text import counted, shortened

FORMAT = "accel-sim-traces"

_FIRST_LINE = re.compile(
    rb"\s*(?:kernel-\d{1,18}\S*\.trace[gz]?(?:\.xz|\.gz)?|MemcpyHtoD,0x[0-9a-fA-F]+,\d+)\s*?(?:\r?\n|\Z)"
)
_NOTHING = "a list that names no trace", "give the kernelslist.g of post-traces-processing"
_PAGE = "give what was measured of these very launches, a row each, or take it away: instructions count then"
_HEAD = "give the traces as the tracer wrote them"


class _Traces(NamedTuple):
    """The traces of a list, in its order."""

    numbers: IntArray  #: (n,)
    files: Sequence[Path]
    #: the distinct kernel names as the traces have them, and (n,) the index of each trace's
    names: Sequence[str]
    name: IntArray
    #: (n, 3)
    grid: IntArray
    block: IntArray


def recognise(file: InputFile) -> bool:
    """Return whether the first line names a trace or copies memory."""
    return _FIRST_LINE.match(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of the listed traces, in the list's order.

    Raises ProfileError: a trace is not there, or begins or counts like none; what was measured is of other
    launches, or has no duration of one.
    """
    traces = _read_heads(file, progress)
    pages = [_in_order(rows, traces) for rows in _pages_beside(file)]
    if pages:
        features = Features(
            metrics={name: values for rows in pages[::-1] for name, values in rows.features.metrics.items()},
            units={name: unit for rows in pages[::-1] for name, unit in rows.features.units.items()},
        )
        durations = ncu.find_durations(replace(pages[0], features=features), file)
        if durations.is_wrong.any():
            row = int(pages[0].line[np.argmax(durations.is_wrong)])
            message, column = "a launch has no duration", durations.metric
            raise ProfileError(message, path=pages[0].path, row=row, column=column, remedy=_PAGE)
        duration, metrics, product = durations.values, features.metrics, durations.product
        notes = [f"durations of {pages[0].path}, row by row", *filter(None, [durations.note])]
    else:
        duration = _instructions(file, traces, progress)
        metrics, product = {"instructions": duration}, "NVIDIA NVBit (instructions)"
        notes = ["no durations: instructions stand for time"]
    launches = Launches(file, kernels)
    mangled = [name if name.startswith(MANGLED) else None for name in traces.names]
    launches.add(
        LaunchColumns(
            name=kernels.names.intern(traces.names, mangled=mangled).take(traces.name),
            duration_ns=duration.astype(np.int64),
            grid=[*traces.grid.T],
            block=[*traces.block.T],
        )
    )
    profile = launches.finish(FORMAT, RecordingFacts(product=product), _NOTHING, metrics)
    profile.notes = tuple(f"{file.path}: {note}" for note in notes)
    return profile


def _read_heads(file: InputFile, progress: Progress | None) -> _Traces:
    """Return the traces of a list with what their heads say; ProfileError where one begins like none."""
    listed = listed_traces(file)
    if not listed:
        raise ProfileError(_NOTHING[0], path=file.path, remedy=_NOTHING[1])
    files = [path for _, path in listed]
    heads: list[Mapping[str, str]] = []
    for head in ordered_map(trace_head, files):
        heads.append(head)
        if progress is not None:
            progress(len(heads), len(files), f"reading the traces of {file.path}")

    def sizes(key: str) -> IntArray:
        cells = [head.get(key, "") for head in heads]
        parsed, wrong = parse_sizes(cells)
        if wrong >= 0:
            raise ProfileError(f"{key} {cells[wrong]!r} is not {WRITTEN}", path=files[wrong], remedy=_HEAD)
        return parsed

    code = {name: place for place, name in enumerate(dict.fromkeys(head["kernel name"] for head in heads))}
    name = np.array([code[head["kernel name"]] for head in heads])
    numbers = np.array([number for number, _ in listed])
    return _Traces(numbers, files, [*code], name, sizes("grid dim"), sizes("block dim"))


def _pages_beside(file: InputFile) -> Iterator[FeatureRows]:
    """Yield the pages of Nsight Compute in the folder of a list, and above it while that is called traces."""
    folder = file.location.absolute().parent
    while True:
        for path in sorted(folder.iterdir()):
            # There are thousands of traces.
            if not path.name.startswith("kernel") and path.is_file() and _is_page(path):
                with open_input(str(path)) as page:
                    yield ncu.read_rows(page, file.number_locale, None)
        if folder.name != "traces":
            return
        folder = folder.parent


def _is_page(path: Path) -> bool:
    # Anything may lie there, damaged files too.
    with suppress(ProfileError), open_input(str(path)) as file:
        return ncu.recognise(file)
    return False


def _in_order(rows: FeatureRows, traces: _Traces) -> FeatureRows:
    """Return the rows of a page as they stand in it; ProfileError where they are not those of the traces."""
    if len(rows) != len(traces.files):
        message = f"has {counted(len(rows), 'row')} for a list of {counted(len(traces.files), 'trace')}"
        raise ProfileError(message, path=rows.path, remedy=_PAGE)
    assert rows.name is not None
    order = np.argsort(rows.line, kind="stable")
    line, name = rows.line[order], rows.name[order]
    pair, first = dense_codes([name, traces.name])
    pairs = [(rows.names[name[place]], traces.names[traces.name[place]]) for place in first]
    differs = ~np.array([_may_be_same(*names) for names in pairs])[pair]
    for measured, traced in ((rows.grid, traces.grid), (rows.block, traces.block)):
        if measured is not None:
            sizes = measured[order]
            differs |= (sizes != traced).any(axis=1) & sizes.any(axis=1) & traced.any(axis=1)
    if differs.any():
        place = int(np.argmax(differs))
        kernel, traced_kernel = map(shortened, map(readable_name, pairs[pair[place]]))
        message = (
            f"{kernel} is another kernel, grid or block than {traces.files[place].name}: {traced_kernel}"
        )
        raise ProfileError(message, path=rows.path, row=int(line[place]), remedy=_PAGE)
    metrics = {metric: values[order] for metric, values in rows.features.metrics.items()}
    return replace(rows, line=line, features=Features(metrics, rows.features.units))


def _may_be_same(measured: str, traced: str) -> bool:
    """Return whether two names are of one function; demanglers spell the rest in their own ways."""
    is_readable = not any(readable_name(name).startswith(MANGLED) for name in (measured, traced))
    return not is_readable or short_name(measured) == short_name(traced)


def _instructions(file: InputFile, traces: _Traces, progress: Progress | None) -> FloatArray:
    """Return (n,) the warp instructions of each trace: of a single stats.csv, else what it counts itself."""
    executed = np.full(len(traces.files), np.nan)
    folder = file.location.parent
    paths = [*folder.glob("stats.csv"), *folder.glob("stats_ctx_*")]
    if len(paths) == 1:
        with open_input(str(paths[0])) as stats:
            rows = stats_rows(stats)
        assert rows.launch_number is not None
        assert rows.name is not None
        row = np.minimum(np.searchsorted(rows.launch_number, traces.numbers - 1), len(rows) - 1)
        names = np.array(rows.names)[rows.name[row]], np.array(traces.names)[traces.name]
        is_same = (rows.launch_number[row] == traces.numbers - 1) & (names[0] == names[1])
        executed[is_same] = rows.features.metrics["instructions"][row[is_same]]
    uncounted = np.flatnonzero(np.isnan(executed)).tolist()
    counts = ordered_map(count_instructions, [traces.files[place] for place in uncounted])
    for number, count in enumerate(counts):
        executed[uncounted[number]] = count
        if progress is not None:
            progress(number + 1, len(uncounted), f"counting the instructions of {file.path}")
    return executed
