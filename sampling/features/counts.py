"""What tools print of each launch in lines: instructions, basic blocks, or all that a simulator says.

A line of NVBit's instr_count is ``kernel N - NAME - #thread-blocks B,  kernel instructions I, total
instructions T``, among whatever the program itself prints; its numbers count the launches that the tool sees
(NVBit leaves out graphs and cooperative launches), so they are no launch ids. Accel-Sim's tracer writes a
stats.csv beside the traces, a row a launch of one context, in their order; a launch that was not traced has a
count of 0. The NVBit tool that comes with STEM writes basic-block vectors, as Photon needs them: below ``Warp
ID,Basic Block Counts`` two lines a launch, ``Kernel<id>,<blocks>,<warps>,<name>`` and the counts
``c0,c1,...,`` summed over its warps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import BoolArray, IntArray, to_numpy
from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, gap_notes
from sampling.parallel import Progress
from sampling.readers import gpgpu_sim_output as simulator_log
from sampling.readers.input_file import InputFile, pieces
from sampling.readers.table import (
    Layout,
    NumberLocale,
    first_line,
    header_cells,
    lines_of,
    read_rows,
    unified,
)
from sampling.reduction.launch_list import BlockVectors, Features
from sampling.text import Wording, counted

_COUNT = (
    r"kernel (?P<number>\d+) - (?P<name>.+) - #thread-blocks (?P<blocks>\d+),\s*"
    r"kernel instructions (?P<instructions>-?\d+), total instructions (?P<total>-?\d+)"
)
_COUNT_SIGN = re.compile(rb"kernel \d+ - .+ - #thread-blocks \d+,\s*kernel instructions -?\d+")
_BANNER = b"NVBit (NVidia Binary Instrumentation Tool"
_BLOCKS_TITLE = "Warp ID,Basic Block Counts"
_LAUNCH = r"^Kernel ?(?P<number>\d+),(?P<blocks>\d+),(?P<warps>\d+),(?P<name>.+)$"
_BLOCK_COUNTS = r"^\d+(?:,\d+)*,?$"


ID, NAME = "kernel id", "kernel mangled name"
GRID = tuple(f"grid_dim{axis}" for axis in "XYZ")
BLOCK = tuple(f"block_dim{axis}" for axis in "XYZ")
#: Warp instructions of a launch, and those of them that went into its trace; 0 for a launch not traced
INSTRUCTIONS, REPORTED = "total_insts", "total_reported_insts"
REMEDY = "give the stats.csv that the tracer wrote beside the traces"


@dataclass(frozen=True, slots=True, eq=False)
class StatsRows:
    """All rows of a file."""

    path: str
    line: IntArray  #: (n,) 1-based line of each
    number: IntArray  #: (n,) the N of kernel-N, from 1
    #: the distinct names, and (n,) the index of each row's
    names: tuple[str, ...]
    name: IntArray
    sizes: IntArray  #: (n, 6) grid x, y, z and block x, y, z
    #: (n, 2) all instructions of the launch and those in its trace; (n, 0) where they were not read
    counts: IntArray

    def refuse(self, wrong: BoolArray, column: str, message: str, remedy: str) -> None:
        """Raise ProfileError for the first row that is wrong, if there is one."""
        if wrong.any():
            row = int(self.line[np.argmax(wrong)])
            raise ProfileError(message, path=self.path, row=row, column=column, remedy=remedy)


def is_stats(head: bytes) -> bool:
    """Return whether a file that starts like this has the header of stats.csv."""
    return {ID, NAME} <= {cell.strip() for cell in header_cells(first_line(head))}


def stats_rows(file: InputFile, *, with_counts: bool = False, progress: Progress | None = None) -> StatsRows:
    """Return the rows, with the instructions beside names and sizes where these are asked for.

    Raises ProfileError: a column is missing, a cell is no number, an id no trace; there is no row.
    """
    import pyarrow as pa
    from pyarrow import compute

    header = tuple(cell.strip() for cell in header_cells(first_line(file.head)))
    numeric = (*GRID, *BLOCK, *((INSTRUCTIONS, REPORTED) if with_counts else ()))
    for column in (ID, NAME, *numeric):
        if column not in header:
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=REMEDY)
    layout = Layout(
        header,
        {column: (header.index(column), "text") for column in (ID, NAME)}
        | {column: (header.index(column), "integer") for column in numeric},
        remedy=REMEDY,
    )
    parts: list[IntArray] = []
    names: dict[str, int] = {}
    for rows in read_rows(file, layout, progress):
        distinct, code = rows.codes(ID)
        found = compute.extract_regex(distinct, r"kernel-(?P<number>\d{1,18})")
        rows.refuse(to_numpy(found.is_null())[code], ID, "is no trace kernel-N")
        digits = compute.struct_field(found, "number").cast(pa.string())
        spelt, named = rows.texts(NAME)
        codes = [names.setdefault(each.strip(), len(names)) for each in spelt]
        name = np.array(codes, dtype=np.int64)[named]
        number = to_numpy(digits.cast(pa.int64()))[code]
        parts.append(np.stack([rows.lines, number, name, *(rows.numbers(column) for column in numeric)]))
    if not parts:
        raise ProfileError("lists no launch", path=file.path, remedy=REMEDY)
    line, number, name, *others = np.concatenate(parts, axis=1)
    table_of = np.stack(others, axis=1)
    return StatsRows(file.path, line, number, tuple(names), name, table_of[:, :6], table_of[:, 6:])


def _overflowed(rows: StatsRows) -> BoolArray:
    """Return (n,) whether the count of a launch is beyond the 32 bits that the tracer prints.

    The instructions that went into a trace are at most all of the launch, so more of them tell an overflow
    too. They stand in for none: they leave some out, and are printed in 32 bits themselves.
    """
    total, reported = rows.counts.T
    return np.asarray((total < 0) | (reported < 0) | (reported > total))


def recognise(file: InputFile) -> bool:
    """Return whether this is a title or line of one of them, or NVBit introduces itself."""
    return (
        is_stats(file.head)
        or _COUNT_SIGN.search(file.head) is not None
        or _is_of_blocks(file)
        or simulator_log.recognise(file)
        or (_BANNER in file.head and any(_COUNT_SIGN.search(text) is not None for _, text in pieces(file)))
    )


def _is_of_blocks(file: InputFile) -> bool:
    return file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_BLOCKS_TITLE.encode())


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their warp instructions, cycles or basic-block vectors.

    A count of 0 stands for a launch that was not counted: it counts as a launch and has no value. The same
    holds for a count that has overflowed.

    Raises ProfileError: no line is whole, a cell is no number, or the numbers of the launches do not
    ascend, so that it is of several processes or runs; of a simulator's log, see `logged_launches`.
    """
    if is_stats(file.head):
        return _of_accel_sim(file, progress)
    if _is_of_blocks(file):
        return _of_blocks(file, progress)
    return _of_simulator(file, progress) if simulator_log.recognise(file) else _of_nvbit(file, progress)


def _of_accel_sim(file: InputFile, progress: Progress | None) -> FeatureRows:
    rows = stats_rows(file, with_counts=True, progress=progress)
    falls = np.diff(rows.number, prepend=rows.number[:1] - 1) <= 0
    row = int(np.argmax(falls))
    before = f"kernel-{int(rows.number[row])} follows kernel-{int(rows.number[row - 1])}"
    several = f"{before}: the statistics of several contexts or runs"
    rows.refuse(falls, ID, several, "give each a file of its own")
    return _instructions(
        file.path,
        rows.line,
        rows.number - 1,
        np.where(_overflowed(rows), -1, rows.counts[:, 0]),
        ("accel-sim-stats", "not traced", "beyond the 32 bits in which total_insts is printed"),
        names=rows.names,
        name=rows.name,
        grid=rows.sizes[:, :3],
        block=rows.sizes[:, 3:],
    )


def _of_nvbit(file: InputFile, progress: Progress | None) -> FeatureRows:
    from pyarrow import compute

    parts, names = [], []
    lines_past = 0
    for _, text in pieces(file, progress):
        found = compute.extract_regex(lines_of(text), _COUNT)
        line = np.flatnonzero(to_numpy(found.is_valid())) + lines_past + 1
        found = compute.drop_null(found)
        columns = ("number", "blocks", "instructions")
        parts.append((line, *(_whole_counts(found.field(of), line, file.path) for of in columns)))
        names.append(found.field("name"))
        lines_past += text.count(b"\n")
    line, number, blocks, executed = map(np.concatenate, zip(*parts, strict=True))
    if not len(line):
        message = "NVBit output without a whole line of instr_count"
        raise ProfileError(message, path=file.path, remedy="count again")
    falls = np.diff(number, prepend=number[:1] - 1) <= 0
    if falls.any():
        row = int(np.argmax(falls))
        before = f"kernel {int(number[row])} follows kernel {int(number[row - 1])}"
        raise ProfileError(
            f"{before}: the log of several processes or runs",
            path=file.path,
            row=int(line[row]),
            remedy=Wording(
                "give the log of one process, and choose its launches with `processes` or `devices`"
            ),
        )
    spelt, name = unified(names)
    said = ("nvbit-instr-count", "not instrumented", "beyond the bits of the counter, which overflowed")
    return _instructions(
        file.path, line, number, executed, said, names=spelt, name=name, thread_blocks=blocks
    )


def _instructions(
    path: str, line: IntArray, number: IntArray, executed: IntArray, said: tuple[str, str, str], **known: Any
) -> FeatureRows:
    """Return the rows of counts, (n,) each: 0 is none, below 0 overflowed."""
    format_name, is_none, overflowed = said
    notes = [*gap_notes(number)]
    for chosen, what in ((executed == 0, f"{is_none} (0 instructions)"), (executed < 0, overflowed)):
        if count := int(np.count_nonzero(chosen)):
            were = "was" if count == 1 else "were"
            notes.append(f"{counted(count, 'launch', 'launches')} {were} {what}: no value is known")
    counts = np.where(executed > 0, executed.astype(np.float64), np.nan)
    features = Features(metrics={"instructions": counts}, units={"instructions": "inst"})
    return FeatureRows(path, format_name, line, features, launch_number=number, notes=tuple(notes), **known)


def _of_blocks(file: InputFile, progress: Progress | None) -> FeatureRows:
    import pyarrow as pa
    from pyarrow import compute

    def refused(message: str, line: int | None = None) -> ProfileError:
        again = "record it again: it is cut short or damaged"
        return ProfileError(message, path=file.path, row=line, remedy=again)

    names, launches, rows = [], [], []
    lines_past = 0
    for _, text in pieces(file, progress):
        lines = lines_of(text)
        launch = compute.extract_regex(lines, _LAUNCH)
        has_counts = compute.match_substring_regex(lines, _BLOCK_COUNTS)
        is_launch, is_count = to_numpy(compute.is_valid(launch)), to_numpy(has_counts)
        for place in np.flatnonzero(~(is_launch | is_count))[:64].tolist():
            other = lines[place].as_py().decode("utf-8", "replace").strip().removeprefix("\ufeff")
            if other and other != _BLOCKS_TITLE:
                raise refused(f"'{other[:60]}' is neither a launch nor its counts", lines_past + place + 1)
        groups = compute.drop_null(launch)
        line = np.flatnonzero(is_launch) + lines_past + 1
        numbers = [_whole_counts(groups.field(of), line, file.path) for of in ("number", "blocks", "warps")]
        launches.append((line, *numbers))
        names.append(groups.field("name"))
        bare = compute.replace_substring_regex(lines.filter(has_counts), ",$", "")
        split = compute.split_pattern(bare, ",")
        lengths = to_numpy(compute.list_value_length(split)).astype(np.int64)
        counts = to_numpy(compute.list_flatten(split).cast(pa.string()).cast(pa.float64()))
        rows.append((np.flatnonzero(is_count) + lines_past + 1, lengths, counts))
        lines_past += text.count(b"\n")
    line, number, blocks, warps = map(np.concatenate, zip(*launches, strict=True))
    count_line, lengths, counts = map(np.concatenate, zip(*rows, strict=True))
    if not len(line):
        raise refused("a file of basic-block vectors without a single launch")
    # Launches and counts alternate, and each launch has as many as it says.
    pairs = min(len(line), len(count_line))
    following = np.append(line[1:], np.iinfo(np.int64).max)[:pairs]
    wrong = (count_line[:pairs] < line[:pairs]) | (count_line[:pairs] > following)
    wrong |= lengths[:pairs] != blocks[:pairs]
    if wrong.any() or len(line) != len(count_line):
        row = int(np.argmax(wrong)) if wrong.any() else pairs
        if row < len(line):
            raise refused(f"not the {int(blocks[row])} counts that the launch names", int(line[row]))
        raise refused("counts without a launch before them", int(count_line[row]))
    spelt, name = unified(names)
    # Numbers that start again are of several processes, so that they give no order.
    ascending = bool((np.diff(number) > 0).all())
    vectors = BlockVectors(np.append(0, np.cumsum(lengths)).astype(np.int64), counts, warps)
    return FeatureRows(
        path=file.path,
        format="basic-block-vectors",
        line=line,
        features=Features(block_vectors=vectors),
        names=spelt,
        name=name,
        launch_number=number if ascending else None,
        notes=gap_notes(number) if ascending else (),
    )


def _of_simulator(file: InputFile, progress: Progress | None) -> FeatureRows:
    """Return the launches of a log by their numbers, or in its order where they have none."""
    found = simulator_log.logged_launches(file, progress)
    order = np.arange(len(found.names)) if found.number is None else np.argsort(found.number)
    code = {name: place for place, name in enumerate(dict.fromkeys(found.names))}
    ascending = None if found.number is None else found.number[order] - 1
    metrics = {
        "instructions": found.instructions[order].astype(np.float64),
        "cycles": found.cycles[order].astype(np.float64),
    }
    return FeatureRows(
        path=file.path,
        format=simulator_log.FORMAT,
        line=np.arange(1, len(order) + 1),
        features=Features(metrics=metrics, units={"instructions": "inst", "cycles": "cycle"}),
        names=tuple(code),
        name=np.array([code[name] for name in found.names], dtype=np.int64)[order],
        grid=found.sizes[order, :3],
        block=found.sizes[order, 3:],
        launch_number=ascending,
        notes=() if ascending is None else gap_notes(ascending),
    )


def _whole_counts(cells: Any, line: IntArray, path: str) -> IntArray:
    """Return (k,) the whole numbers of an Arrow array of digits, found in these 1-based lines of a file."""
    import pyarrow as pa

    texts = cells.cast(pa.string())
    # As floats, numbers just beyond 64 bits are equal to the last ones within them.
    large = np.abs(to_numpy(texts.cast(pa.float64()))) >= 2.0**63
    if large.any():
        row = int(np.argmax(large))
        raise ProfileError(
            f"{texts[row].as_py()[:40]} is too large for a count",
            path=path,
            row=int(line[row]),
            remedy="record the file again, or leave the launch out",
        )
    numbers: IntArray = to_numpy(texts.cast(pa.int64()))
    return numbers
