"""The manifest of an export read back: which launch of the profile each number of the simulator is.

A row a launch that is run: ``id``, ``simulator_id``; where there are warm-ups, ``warm_up`` is 1 for those,
and ``shard`` says which machine runs a launch. Rows are in the order in which a shard is run.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile

_REMEDY = "give the manifest.csv that `kernelpoint export` wrote beside what was run"


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """The launches of an export, in the order of its shards.

    Attributes
    ----------
    id, number : (n,) launch id in the profile, and number in the simulator.
    shard : (n,) which machine runs it.
    is_warm_up : (n,) whether it runs for the caches' sake alone, and its result counts for nothing.
    """

    path: str
    id: IntArray
    number: IntArray
    shard: IntArray
    is_warm_up: BoolArray


def read_manifest(file: InputFile) -> Manifest:
    """Read a manifest.

    Raises
    ------
    ProfileError : it cannot be read, lacks a column, or a cell holds no number.
    """
    with file.open() as stream:
        text = stream.read().decode("utf-8-sig", "replace")
    reader = csv.DictReader(text.splitlines())
    for column in ("id", "simulator_id"):
        if column not in (reader.fieldnames or ()):
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=_REMEDY)
    rows: list[tuple[int, int, int, int]] = []
    for row in reader:
        cells = [row[column] for column in ("id", "simulator_id")]
        cells += [row.get(column) or default for column, default in (("shard", "1"), ("warm_up", "0"))]
        if not all((cell or "").isdecimal() for cell in cells):
            raise ProfileError(
                "a row holds something else than numbers of launches",
                path=file.path,
                row=reader.line_num,
                remedy=_REMEDY,
            )
        rows.append((int(cells[0]), int(cells[1]), int(cells[2]), int(cells[3])))
    if not rows:
        raise ProfileError("has no row below its header", path=file.path, remedy=_REMEDY)
    table = np.array(rows, dtype=np.int64)
    return Manifest(file.path, table[:, 0], table[:, 1], table[:, 2], table[:, 3] > 0)
