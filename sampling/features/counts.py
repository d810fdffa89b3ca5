"""What tools print of each launch in lines: instructions, basic blocks, or all that a simulator says.

A line of NVBit's instr_count is ``kernel N - NAME - #thread-blocks B,  kernel instructions I, total
instructions T``, among whatever the program itself prints; its numbers count the launches that the tool sees
(NVBit leaves out graphs and cooperative launches), so they are no launch ids. So are those of the stats.csv
that Accel-Sim's tracer writes. The NVBit tool that comes with STEM writes basic-block vectors, as Photon
needs them: below ``Warp ID,Basic Block Counts`` two lines a launch, ``Kernel<id>,<blocks>,<warps>,<name>``
and the counts ``c0,c1,...,`` summed over its warps.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sampling.arrays import IntArray, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.readers import NumberLocale
from sampling.readers import gpgpu_sim_output as simulator_log
from sampling.readers.accel_sim_traces import is_stats, stats_rows
from sampling.readers.feature_table import FeatureRows, instruction_rows
from sampling.readers.input_file import InputFile, pieces
from sampling.readers.table import unified
from sampling.readers.text_lines import split_lines
from sampling.reduction.launch_list import BlockVectors, Features

# No whole number has more digits than a signed one of 64 bits.
_COUNT = (
    r"kernel (?P<number>\d{1,18}) - (?P<name>.+) - #thread-blocks (?P<blocks>\d{1,18}),\s*"
    r"kernel instructions (?P<instructions>-?\d{1,18}), total instructions -?\d+"
)
_COUNT_SIGN = re.compile(rb"kernel \d+ - .+ - #thread-blocks \d+,\s*kernel instructions -?\d+")
_BANNER = b"NVBit (NVidia Binary Instrumentation Tool"
_BLOCKS = re.compile(rb"(?:\xef\xbb\xbf)?\s*Warp ID,Basic Block Counts")
_LAUNCH = r"^Kernel ?(?P<number>\d{1,18}),(?P<blocks>\d{1,18}),(?P<warps>\d{1,18}),(?P<name>.+)$"


def recognise(file: InputFile) -> bool:
    """Return whether this is a title or line of one of them, or NVBit introduces itself."""
    return (
        is_stats(file.head)
        or _COUNT_SIGN.search(file.head) is not None
        or _BLOCKS.match(file.head) is not None
        or simulator_log.recognise(file)
        or (_BANNER in file.head and any(_COUNT_SIGN.search(text) for _, text in pieces(file)))
    )


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their warp instructions, cycles or basic-block vectors.

    A launch that was not counted (0), or whose count has overflowed, has no value.

    Raises ProfileError: no line is whole, a cell is no number, or the numbers of the launches do not
    ascend, so that it is of several processes or runs; of a simulator's log, see `logged_launches`.
    """
    if is_stats(file.head):
        return stats_rows(file, progress)
    if _BLOCKS.match(file.head):
        return _read_block_counts(file, progress)
    is_log = simulator_log.recognise(file)
    return (
        simulator_log.logged_launches(file, progress).rows if is_log else _read_nvbit_counts(file, progress)
    )


def _read_nvbit_counts(file: InputFile, progress: Progress | None) -> FeatureRows:
    from pyarrow import compute

    parts, names = [], []
    lines_past = 0
    for _, text in pieces(file, progress):
        matches = compute.extract_regex(split_lines(text), _COUNT)
        line = np.flatnonzero(to_numpy(matches.is_valid())) + lines_past + 1
        matches = compute.drop_null(matches)
        parts.append(
            [line, *(_whole(matches.field(column)) for column in ("number", "blocks", "instructions"))]
        )
        names.append(matches.field("name"))
        lines_past += text.count(b"\n")
    line, number, blocks, executed = np.concatenate(parts, axis=1)
    if not len(line):
        message = "NVBit output without a whole line of instr_count"
        raise ProfileError(message, path=file.path, remedy="count again")
    spelt, name = unified(names)
    return instruction_rows(
        file, "nvbit-instr-count", line, number, executed, names=spelt, name=name, thread_blocks=blocks
    )


def _read_block_counts(file: InputFile, progress: Progress | None) -> FeatureRows:
    import pyarrow as pa
    from pyarrow import compute

    lines = pa.chunked_array([split_lines(text) for _, text in pieces(file, progress)])
    # Below the title a line for a launch and a line of its counts alternate.
    places = np.flatnonzero(to_numpy(compute.match_substring_regex(lines, r"\S")))[1:]
    launch = compute.extract_regex(lines.take(to_arrow(places[0::2])), _LAUNCH)
    vectors = lines.take(to_arrow(places[1::2]))
    wrong = np.zeros(len(places), dtype=np.bool_)
    wrong[0::2] = to_numpy(launch.is_null())
    wrong[1::2] = ~to_numpy(compute.match_substring_regex(vectors, r"^\d+(?:,\d+)*,?$"))
    wrong[-1:] |= len(places) % 2 == 1
    if not wrong.any():
        number, blocks, warps = (
            _whole(compute.struct_field(launch, column)) for column in ("number", "blocks", "warps")
        )
        split = compute.split_pattern(compute.replace_substring_regex(vectors, ",$", ""), ",")
        lengths = to_numpy(compute.list_value_length(split)).astype(np.int64)
        wrong[1::2] = lengths != blocks
    if wrong.any() or not len(places):
        row = int(places[np.argmax(wrong)]) + 1 if wrong.any() else None
        message = "no launch Kernel<id>,<blocks>,<warps>,<name> with so many counts in the line below it"
        remedy = "record it again: it is cut short or damaged"
        raise ProfileError(message, path=file.path, row=row, remedy=remedy)
    names, name = unified([compute.struct_field(launch, "name")])
    counts = to_numpy(compute.list_flatten(split).cast(pa.string()).cast(pa.float64()))
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    return FeatureRows(
        path=file.path,
        format="basic-block-vectors",
        line=places[0::2] + 1,
        features=Features(block_vectors=BlockVectors(offsets, counts, warps)),
        names=names,
        name=name,
        # Numbers that start again are of several processes, so that they give no order.
        launch_number=number if (np.diff(number) > 0).all() else None,
    )


def _whole(cells: Any) -> IntArray:
    """Return (k,) the whole numbers of an Arrow array of digits."""
    import pyarrow as pa

    numbers: IntArray = to_numpy(cells.cast(pa.string()).cast(pa.int64()))
    return numbers
