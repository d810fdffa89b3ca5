"""The manifest of an export read back: which launch of the profile each number of the simulator is.

A row a launch that is run: ``id``, and ``simulator_id``, a number or a name with one: ``kernel-7``,
``Kernel2``. ``warm_up`` is 1 for a warm-up; ``shard`` says which machine runs a launch, ``order`` when.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import STATE, UNNUMBERED

_OTHERS = (("shard", "1"), ("order", "0"), ("warm_up", "0"))
_COUNT = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"(?:[Kk]ernel-?)?([0-9]{1,18})(?:-ctx_0x[0-9a-fA-F]+)?")
_REMEDY = "give the manifest.csv that `kernelpoint export` wrote beside what was run"


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """The launches of an export, in the order of its shards.

    Attributes
    ----------
    id, number : (n,) launch id in the profile, and number in the simulator; `UNNUMBERED` where it has none.
    shard : (n,) which machine runs it.
    caches : (n,) how each launch finds them; "" where the export does not say.
    is_warm_up : (n,) whether it runs for the caches' sake alone, and its result counts for nothing.
    """

    path: str
    id: IntArray
    number: IntArray
    shard: IntArray
    is_warm_up: BoolArray
    caches: tuple[str, ...]


def manifests_in(folder: Path) -> list[Path]:
    """Return those of an export, one for each process and device, or of all exports of a run."""
    ways = ("", "process-*/", "rounds/*[0-9]/", "rounds/*[0-9]/process-*/")
    return [path for way in ways for path in sorted(folder.glob(f"{way}manifest.csv"))]


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
    rows: list[tuple[int, ...]] = []
    caches: list[str] = []
    for row in reader:
        cells = [row["id"], *(row.get(column) or default for column, default in _OTHERS)]
        if not all(_COUNT.fullmatch(cell or "") for cell in cells):
            raise ProfileError(
                "a row holds something else than numbers of launches",
                path=file.path,
                row=reader.line_num,
                remedy=_REMEDY,
            )
        found = _NUMBER.fullmatch(row["simulator_id"] or "")
        caches.append(row.get("caches") or "")
        if not STATE.fullmatch(caches[-1]):
            raise ProfileError(
                f"{caches[-1]!r} is no way to find the caches",
                path=file.path,
                row=reader.line_num,
                column="caches",
                remedy=_REMEDY,
            )
        rows.append((*map(int, cells), UNNUMBERED if found is None else int(found[1])))
    if not rows:
        raise ProfileError("has no row below its header", path=file.path, remedy=_REMEDY)
    launch, shard, order, warm_up, number = np.array(rows, dtype=np.int64).T
    run = np.lexsort((order, shard))
    states = tuple(caches[row] for row in run.tolist())
    return Manifest(file.path, launch[run], number[run], shard[run], warm_up[run] > 0, states)
