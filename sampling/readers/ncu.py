"""Nsight Compute's CSV: its raw page has a row for a launch, its details page a row for each metric of one.

The header stands somewhere after ``==PROF==`` lines and what the program itself printed; such lines may stand
between the rows too. ``ID`` counts the launches that were profiled, so it is an order and never a launch id.
On the raw page units stand in the second row. On the details page each row has its own, rows of rules stand
between them with their metric empty, and one name may mean different things in two sections: "Memory
Throughput" is a share in one and bytes a second in the other. Older versions have no Block Size, Grid Size,
Device and CC there.

It is a profile where it has a time or cycles of each launch: ``gpu__time_duration.sum``, as the details page
says Duration, and ``sm__cycles_elapsed.max``, there Elapsed Cycles; Accel-Sim's run_hw.py measures averages
of cycles alone. Its metrics are those of the launches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sampling.arrays import FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import NumberLocale
from sampling.readers.feature_table import Durations, FeatureRows, FeatureTable, measured_profile
from sampling.readers.input_file import InputFile, pieces
from sampling.readers.table import Layout, Rows, header_cells, parse
from sampling.readers.text_lines import join_lines, split_lines
from sampling.reduction.launch_list import Features
from sampling.text import Wording

FORMAT = "ncu"

HEADER = re.compile(rb'^(?:\xef\xbb\xbf)?"?ID"?,"?Process ID"?,[^\r\n]*', re.MULTILINE)
# A row starts with two whole numbers, the ID and the process; in quotes where the header's cells are.
_QUOTED_ROW = r'^"[\d.,]+","[\d.,]+",'
_BARE_ROW = r'^"?\d+"?,"?\d+"?,'
_CELL = r'(?:"(?:[^"]|"")*"|[^",]*)'
_NO_METRIC = {
    *("", "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream"),
    *("Block Size", "Grid Size", "Device", "CC"),
}
_SECTION, _METRIC, _UNIT, _VALUE = "Section Name", "Metric Name", "Metric Unit", "Metric Value"
_WRITE_AGAIN = "write it again with `ncu --import REPORT.ncu-rep --csv --page raw`"
#: What a launch lasted, the best first
TIMES = (*(f"gpu__time_duration.{how}" for how in ("sum", "max", "avg")), "Duration")
_CYCLES = (
    *(f"{unit}__cycles_elapsed.{how}" for how in ("max", "avg") for unit in ("sm", "gpc", "gpu")),
    "Elapsed Cycles",
)
_LONGEST_NS = 2.0**62
_A_FILE_EACH = Wording("give each report as a file of its own: `features` may be repeated")


def recognise(file: InputFile) -> bool:
    """Return whether the file has the header of a page."""
    return bool(_header(file))


def _header(file: InputFile) -> bytes:
    """Return the line of the header, empty where there is none.

    Nsight Compute prints a line for each launch before it, so it may be beyond the file's head.
    """
    if HEADER.search(file.head) is None and b"==PROF==" not in file.head:
        return b""
    return next((match[0] for _, text in pieces(file) if (match := HEADER.search(text))), b"")


def read_rows(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their metrics in base units, by process and in the order of their IDs.

    Raises ProfileError: a column is missing, there is no row, a row is cut short, some values of a metric are
    numbers and others text, an ID repeats or stands for two kernels.
    """
    header = _header(file)
    titles = header_cells(header)
    is_details = {_METRIC, _VALUE} <= {*titles}
    needed = ("Kernel Name", "ID", "Process ID", *((_SECTION, _UNIT) if is_details else ()))
    if lacking := [name for name in needed if name not in titles]:
        message = f"an Nsight Compute CSV without a column {lacking[0]}"
        raise ProfileError(message, path=file.path, remedy=_WRITE_AGAIN)
    metrics = [name for name in dict.fromkeys(titles) if name not in _NO_METRIC]
    if is_details:
        # The texts of rules are not read.
        columns_read = ("Grid Size", "Block Size", "Device", *needed, _METRIC, _VALUE)
        titles = titles[: max(titles.index(name) for name in columns_read if name in titles) + 1]
    units: list[str] = []
    rows = _rows(file, titles, is_quoted=b'"ID"' in header, units=units, progress=progress)
    table = FeatureTable.of(file.path, rows, locale)
    process, number, (names, name) = table.whole("Process ID"), table.whole("ID"), table.texts("Kernel Name")
    codes, first = dense_codes([process, number])
    if (wrong := name != name[first][codes]).any():
        raise table.error(wrong, "ID", "an ID stands for two kernels", _A_FILE_EACH)
    order = np.lexsort((number[first], process[first]))
    first = first[order]
    if is_details:
        features = _details(table, np.argsort(order)[codes], len(first))
    else:
        table.refuse_repeated([process, number], "this launch's ID")
        features = _raw(table, metrics, dict(zip(titles, units, strict=False)), first)
    grid, block = table.sizes("Grid Size"), table.sizes("Block Size")
    return FeatureRows(
        path=file.path,
        format="ncu-details" if is_details else "ncu-raw",
        line=table.line[first],
        features=features,
        names=names,
        name=name[first],
        process=process[first],
        device=table.whole("Device")[first] if "Device" in table else None,
        grid=None if grid is None else grid[first],
        block=None if block is None else block[first],
    )


def find_durations(rows: FeatureRows, file: InputFile) -> Durations:
    """Return what each launch lasted: its time, or its cycles where no time is there or the user chose them.

    Raises ProfileError: there is neither.
    """
    times = tuple(name for name in TIMES if rows.features.units.get(name) == "ns")
    time, cycles = map(rows.features.first_present, (times, _CYCLES))
    metric = cycles or time if file.profile_cycles else time or cycles
    if metric is None:
        message = f"an Nsight Compute CSV without {TIMES[0]} or {_CYCLES[0]}: features, not a profile"
        remedy = f"measure one of them (--metrics {TIMES[0]}), or give it as `features` of a profile"
        raise ProfileError(message, path=rows.path, remedy=Wording(remedy))
    values = np.rint(rows.features.metrics[metric])
    note = "" if metric == time else f"a cycle ({metric}) counts as a nanosecond"
    note = f"no durations: {note}" if time is None else note
    product = "NVIDIA Nsight Compute" + (" (cycles)" if note else "")
    can_be = (values >= 0) & (values < _LONGEST_NS)
    return Durations(metric, np.where(can_be, values, np.nan), note, product)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches in the order of their IDs, with all that was measured of them.

    Raises ProfileError: see `read_rows` and `find_durations`; hardly a launch has a duration.
    """
    rows = read_rows(file, file.number_locale, progress)
    alone = "Nsight Compute measures each launch by itself, by default with empty caches at the base clock"
    return measured_profile(file, kernels, rows, find_durations(rows, file), alone)


def _rows(
    file: InputFile, titles: tuple[str, ...], *, is_quoted: bool, units: list[str], progress: Progress | None
) -> Iterator[Rows]:
    """Yield the rows, all columns as texts; the cells of a row of units below the header go to ``units``.

    Raises ProfileError: another header follows; a row is cut short.
    """
    from pyarrow import compute

    first_cells = rf"^({_CELL}(?:,{_CELL}){{{len(titles) - 1}}})(?:,.*)?$"
    layout = Layout(titles, {title: (titles.index(title), "text") for title in titles}, remedy=_WRITE_AGAIN)
    line, is_past_header = 1, False
    for offset, text in pieces(file, progress):
        start, header = 0, HEADER.search(text)
        if header is not None and not is_past_header:
            is_past_header = True
            start = text.find(b"\n", header.end()) + 1 or len(text)
            cells = header_cells(text[start:].partition(b"\n")[0])
            if len(cells) == len(titles) and not any(cells[: titles.index("Kernel Name") + 1]):
                units += cells
            header = HEADER.search(text, start)
        if header is not None:
            message = "holds several Nsight Compute reports one after the other"
            raise ProfileError(message, path=file.path, remedy=_A_FILE_EACH)
        if is_past_header:
            # Lines that are no rows are made empty, so that the others keep their numbers.
            lines = split_lines(text[start:])
            is_row = compute.match_substring_regex(lines, _QUOTED_ROW if is_quoted else _BARE_ROW)
            if compute.any(is_row).as_py():
                lines = compute.if_else(is_row, lines, b"")
                if _METRIC in titles:
                    lines = compute.replace_substring_regex(lines, first_cells, r"\1")
                yield parse(
                    file, layout, offset + start, join_lines(lines), line + text.count(b"\n", 0, start)
                )
        line += text.count(b"\n")


def _raw(table: FeatureTable, names: Sequence[str], unit_of: Mapping[str, str], rows: IntArray) -> Features:
    """Return the metrics of a page with a row for a launch and a column for a metric."""
    metrics: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    for name in names:
        values = table.metric(name)
        if values is not None:
            factor, base = base_unit(unit_of.get(name, ""))
            metrics[name] = values[rows] * factor
            units |= {name: base} if base else {}
    return Features(metrics=metrics, units=units)


def _details(table: FeatureTable, launch: IntArray, launches: int) -> Features:
    """Return the metrics of a page with a row for each metric of a launch; (rows,) the launch of each."""
    (sections, section), (names, name), (printed, unit) = map(table.texts, (_SECTION, _METRIC, _UNIT))
    factors = [base_unit(text) for text in printed]
    bases = list(dict.fromkeys(base for _, base in factors))
    base = np.array([bases.index(base) for _, base in factors])[unit]
    values, is_text = table.numbers(_VALUE)
    values = values * np.array([factor for factor, _ in factors])[unit]
    # What a name means in a section and unit is one series; rules have no name.
    places = np.flatnonzero(np.array([bool(text.strip()) for text in names])[name])
    codes, first = dense_codes([section[places], name[places], base[places]])
    order = places[np.argsort(codes, kind="stable")]
    series = np.split(order, np.cumsum(np.bincount(codes, minlength=len(first)))[:-1])
    metrics: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    for rows in [series[code] for code in np.argsort(first)]:
        title, its_unit = names[name[rows[0]]], bases[base[rows[0]]]
        if is_text[rows].any():
            if not np.isnan(values[rows]).all():
                wrong = np.isin(np.arange(len(values)), rows) & is_text
                raise table.error(wrong, _VALUE, f"a value of '{title}' is text, and others are numbers")
            continue
        column = np.full(launches, np.nan)
        # Backwards, so that of several rows for one launch the first stays.
        column[launch[rows[::-1]]] = values[rows[::-1]]
        if title in metrics:
            present = metrics[title]
            differ = (present != column) & ~np.isnan(present) & ~np.isnan(column)
            if units.get(title, "") == its_unit and not differ.any():
                metrics[title] = np.where(np.isnan(present), column, present)
                continue
            title = f"{sections[section[rows[0]]]}: {title}"
            title = f"{title} ({its_unit})" if title in metrics else title
        metrics[title] = column
        units |= {title: its_unit} if its_unit else {}
    return Features(metrics=metrics, units=units)


_NANOSECONDS = {
    **dict.fromkeys(("second", "seconds", "sec", "s"), 1e9),
    **dict.fromkeys(("msecond", "ms"), 1e6),
    **dict.fromkeys(("usecond", "us"), 1e3),
    **dict.fromkeys(("nsecond", "ns"), 1.0),
    "minute": 60e9,
    "hour": 3600e9,
}
# Nsight Compute's prefixes are decimal: a shared memory of 8192 bytes is 8.192 Kbyte.
_PREFIXES = {"K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_PREFIXED = re.compile(
    r"([KkMGTP])(bytes?|bits?|hz|Hz|inst|cycles?|sectors?|requests?|threads?|warps?|blocks?|samples?)"
)


def base_unit(unit: str) -> tuple[float, str]:
    """Return how many base units one ``unit`` is, and the base unit; an unknown one is its own base.

    Base units are nanosecond, byte, cycle, inst and what else is counted one by one; rates are per second,
    and a frequency is in hertz. Spellings changed with the versions.

    >>> base_unit("usecond"), base_unit("Gbyte/s"), base_unit("cycle/nsecond")
    ((1000.0, 'ns'), (1000000000.0, 'byte/s'), (1000000000.0, 'hertz'))
    """
    counted, divided, per = unit.strip().partition("/")
    factor, base = _one(counted)
    if not divided:
        return factor, base
    if per in _NANOSECONDS:
        return factor * (1e9 / _NANOSECONDS[per]), "hertz" if base in {"cycle", "cycles"} else f"{base}/s"
    divisor, per = _one(per)
    return factor / divisor, f"{base}/{per}"


def _one(unit: str) -> tuple[float, str]:
    """Return the same for a unit without a divisor."""
    if unit in _NANOSECONDS:
        return _NANOSECONDS[unit], "ns"
    match = _PREFIXED.fullmatch(unit)
    factor, bare = (1.0, unit) if match is None else (_PREFIXES[match[1]], match[2])
    return factor, "hertz" if bare in {"hz", "Hz"} else bare
