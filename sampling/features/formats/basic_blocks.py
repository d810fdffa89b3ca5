"""Basic-block vectors in the CSV of the NVBit tool that comes with STEM, as Photon needs them.

Line 1 is ``Warp ID,Basic Block Counts``; then each launch has two lines,
``Kernel<id>,<blocks>,<warps>,<name>`` and the counts ``c0,c1,...,`` summed over its warps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.features.rows import FeatureRows, gap_notes
from sampling.features.tables.columns import TextCodes
from sampling.features.tables.number_cells import NumberLocale
from sampling.progress import Progress
from sampling.readers.csv_cells import pieces
from sampling.readers.input_file import InputFile
from sampling.readers.text_lines import lines_of, whole_counts
from sampling.reduction.launch_features import BlockVectors, Features

FORMAT = "basic-block-vectors"

_AGAIN = "record it again: it is cut short or damaged"
_TITLE = b"Warp ID,Basic Block Counts"
_LAUNCH = r"^Kernel ?(?P<number>\d+),(?P<blocks>\d+),(?P<warps>\d+),(?P<name>.+)$"
_COUNTS = r"^\d+(?:,\d+)*,?$"


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the title of such a file."""
    return file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_TITLE)


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their basic-block vectors.

    Raises
    ------
    ProfileError : it has no launch, a line is neither of the two, or a launch has more or fewer counts than
        it names.
    """
    collected = _Collected(file)
    for _, text in pieces(file, progress):
        collected.take(text)
    return collected.finish()


class _Collected:
    """Launch lines and count lines in file order; that each launch has its counts is checked at the end."""

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._names = TextCodes()
        self._lines_past = 0
        self._launches: list[tuple[IntArray, ...]] = []
        self._counts: list[tuple[IntArray, IntArray, FloatArray]] = []

    def take(self, text: bytes) -> None:
        """Add the next whole lines."""
        import pyarrow as pa
        from pyarrow import compute

        lines = lines_of(text)
        launch = compute.extract_regex(lines, _LAUNCH)
        is_launch = to_numpy(compute.is_valid(launch))
        has_counts = compute.match_substring_regex(lines, _COUNTS)
        is_count = to_numpy(has_counts)
        self._refuse_others(lines, is_launch | is_count)
        groups = compute.drop_null(launch)
        at = self._lines_past + 1
        line = np.flatnonzero(is_launch) + at
        numbers = (
            whole_counts(groups.field(name), line, self._file.path) for name in ("number", "blocks", "warps")
        )
        self._launches.append((line, self._names.take(groups.field("name")), *numbers))
        places = np.flatnonzero(is_count)
        cells = compute.replace_substring_regex(lines.filter(has_counts), ",$", "")
        split = compute.split_pattern(cells, ",")
        lengths = to_numpy(compute.list_value_length(split)).astype(np.int64)
        counts = to_numpy(compute.list_flatten(split).cast(pa.string()).cast(pa.float64()))
        self._counts.append((places + at, lengths, counts))
        self._lines_past += text.count(b"\n")

    def finish(self) -> FeatureRows:
        """Return what was collected."""
        line, name, number, blocks, warps = map(np.concatenate, zip(*self._launches, strict=True))
        count_line, lengths, counts = map(np.concatenate, zip(*self._counts, strict=True))
        if len(line) == 0:
            raise ProfileError(
                "a file of basic-block vectors without a single launch", path=self._file.path, remedy=_AGAIN
            )
        self._refuse_mismatch(line, blocks, count_line, lengths)
        vectors = BlockVectors(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), counts, warps)
        # Numbers that start again are of several processes, so that they give no order.
        ascending = bool((np.diff(number) > 0).all())
        return FeatureRows(
            path=self._file.path,
            format=FORMAT,
            line=line,
            features=Features(block_vectors=vectors),
            names=self._names.distinct(),
            name=name,
            launch_number=number if ascending else None,
            notes=gap_notes(number) if ascending else (),
        )

    def _refuse_others(self, lines: Any, known: BoolArray) -> None:
        for place in np.flatnonzero(~known)[:64].tolist():
            text = lines[place].as_py().decode("utf-8", "replace").strip().removeprefix("\ufeff")
            if text and text != _TITLE.decode():
                raise ProfileError(
                    f"'{text[:60]}' is neither a launch nor its counts",
                    path=self._file.path,
                    row=self._lines_past + place + 1,
                    remedy=_AGAIN,
                )

    def _refuse_mismatch(
        self, line: IntArray, blocks: IntArray, count_line: IntArray, lengths: IntArray
    ) -> None:
        """Raise where launches and counts do not alternate, or a launch has another number of counts."""
        pairs = min(len(line), len(count_line))
        following = np.append(line[1:], np.iinfo(np.int64).max)[:pairs]
        wrong = (count_line[:pairs] < line[:pairs]) | (count_line[:pairs] > following)
        wrong |= lengths[:pairs] != blocks[:pairs]
        if wrong.any() or len(line) != len(count_line):
            row = int(np.argmax(wrong)) if wrong.any() else pairs
            where = line if row < len(line) else count_line
            raise ProfileError(
                f"not the {int(blocks[row])} counts that the launch names"
                if row < len(line)
                else "counts without a launch before them",
                path=self._file.path,
                row=int(where[row]),
                remedy=_AGAIN,
            )
