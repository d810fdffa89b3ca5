"""Basic-block vectors in the CSV of the NVBit tool that comes with STEM, as Photon needs them.

Line 1 is ``Warp ID,Basic Block Counts``; then each launch has two lines,
``Kernel<id>,<blocks>,<warps>,<name>`` and the counts ``c0,c1,...,`` summed over its warps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, gap_notes
from sampling.progress import Progress
from sampling.readers.csv_cells import NumberLocale, pieces
from sampling.readers.input_file import InputFile
from sampling.readers.tables.cells import unified
from sampling.readers.text_lines import lines_of, whole_counts
from sampling.reduction.launch_list import BlockVectors, Features

_TITLE = "Warp ID,Basic Block Counts"
_LAUNCH = r"^Kernel ?(?P<number>\d+),(?P<blocks>\d+),(?P<warps>\d+),(?P<name>.+)$"
_COUNTS = r"^\d+(?:,\d+)*,?$"


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the title of such a file."""
    return file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_TITLE.encode())


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their basic-block vectors.

    Raises
    ------
    ProfileError : it has no launch, a line is neither of the two, or a launch has more or fewer counts than
        it names.
    """
    import pyarrow as pa
    from pyarrow import compute

    def refused(message: str, line: int | None = None) -> ProfileError:
        again = "record it again: it is cut short or damaged"
        return ProfileError(message, path=file.path, row=line, remedy=again)

    names: list[Any] = []
    launches, rows = [], []
    lines_past = 0
    for _, text in pieces(file, progress):
        lines = lines_of(text)
        launch, has_counts = (
            compute.extract_regex(lines, _LAUNCH),
            compute.match_substring_regex(lines, _COUNTS),
        )
        is_launch, is_count = to_numpy(compute.is_valid(launch)), to_numpy(has_counts)
        for place in np.flatnonzero(~(is_launch | is_count))[:64].tolist():
            other = lines[place].as_py().decode("utf-8", "replace").strip().removeprefix("\ufeff")
            if other and other != _TITLE:
                message = f"'{other[:60]}' is neither a launch nor its counts"
                raise refused(message, lines_past + place + 1)
        groups = compute.drop_null(launch)
        line = np.flatnonzero(is_launch) + lines_past + 1
        numbers = [whole_counts(groups.field(of), line, file.path) for of in ("number", "blocks", "warps")]
        launches.append((line, *numbers))
        names.append(groups.field("name"))
        split = compute.split_pattern(
            compute.replace_substring_regex(lines.filter(has_counts), ",$", ""), ","
        )
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
    vectors = BlockVectors(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), counts, warps)
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
