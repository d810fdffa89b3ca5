"""The manifest of an export: which launch of the profile each is that is run, and what it weighs.

A row a launch, in the order of each shard; what a launch that runs for the caches' sake has none of is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.readers.feature_table import read_columns
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, separated_header
from sampling.simulators.export import PREDECESSORS, Part, Step
from sampling.simulators.measured_run import CACHES, UNNUMBERED, dimensions_text, read_caches
from sampling.text import csv_text, spreadsheet_cell

_COLUMNS = (
    *("id", "simulator_id", "stratum", "weight", "warm_up", CACHES, "shard", "order"),
    *("process", "device", "ordinal", "occurrence", "duration_ns", "grid", "block", "name"),
)
#: Columns that some exports have: how much of what L2 held before a launch was dirty and is filled clean, and
#: the name of what a profiler writes of it
DIRTY, REPORT = "dirty_percent", "report"
_EMPTY: Mapping[str, str | int] = {DIRTY: 0, REPORT: ""}
#: A launch in the simulator: its number, or the name of its trace, with tags or none: kernel-7-layer2-ctx_0x1
_NUMBER = re.compile(r"(?:[Kk]ernel-?)?([0-9]{1,18})(?:-\S+)?")
_REMEDY = "give the manifest.csv that `kernelpoint export` wrote beside what was run"
#: The numbers that are read of it again, and what stands for a column that is not there
_NUMBERS = {"id": -1, "warm_up": 0, "shard": 1, "order": 0, DIRTY: 0}


def launch_row(step: Step, caches: str) -> dict[str, object]:
    """Return what a list of launches says of one, by column; grid and block as 8x1x1."""
    row: dict[str, object] = {"id": step.id, "ordinal": step.ordinal, "stratum": step.stratum, "weight": 0}
    if (launch := step.launch) is not None:
        copied = ("process", "device", "occurrence", "weight", "duration_ns")
        row |= {name: getattr(launch, name) for name in copied} | {CACHES: caches}
        row["name"] = spreadsheet_cell(launch.name)
        row |= {name: dimensions_text(getattr(launch, name)) for name in ("grid", "block")}
    if step.is_check:
        row |= {"weight": 0, CACHES: f"after:{PREDECESSORS}"}
    return row


def manifest_text(
    part: Part,
    simulator_ids: Mapping[int, str | int],
    caches: str,
    more: Mapping[str, Mapping[int, str | int]] | None = None,
) -> str:
    """Return ``manifest.csv`` of a part; simulator ids and `more` columns are by ordinal."""
    more = {name: column for name, column in (more or {}).items() if column}
    columns = (*_COLUMNS, *more)
    rows: list[Iterable[object]] = [columns]
    for shard, steps in enumerate(part.shards, start=1):
        for order, step in enumerate(steps, start=1):
            place = {"process": part.process, "device": part.device, "shard": shard, "order": order}
            called = {name: column.get(step.ordinal, _EMPTY[name]) for name, column in more.items()} | {
                "simulator_id": simulator_ids.get(step.ordinal, ""),
                "warm_up": int(step.launch is None),
            }
            rows.append(map((launch_row(step, caches) | place | called).get, columns))
    return csv_text(rows)


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """The launches of an export, in the order of its shards, each (n,)."""

    path: str
    id: IntArray  #: of the launch in the profile
    number: IntArray  #: in the simulator; `UNNUMBERED` where it has none
    shard: IntArray
    is_warm_up: BoolArray
    caches: tuple[str, ...]  #: "" where the export does not say
    dirty_percent: IntArray  #: how much of what L2 held before was dirty and is filled clean
    report: tuple[str, ...]  #: what a profiler writes of it is called so; "" where there is no such name

    @property
    def folder(self) -> Path:
        """Of the export, or of its process and device."""
        return Path(self.path).absolute().parent

    def report_of(self, path: str) -> str:
        """Return the report that a file or its folder is named for, "" if none: kernel-1-2_counters.csv."""
        place = Path(path).absolute()
        is_below = self.folder in place.parents
        names = place.relative_to(self.folder).parts if is_below else place.parts[-2:]
        reports = {name for name in self.report if name}
        of_file = [
            report for name in names for report in reports if re.match(rf"{re.escape(report)}(\W|_|$)", name)
        ]
        return max(of_file, key=len, default="")


def manifests_in(folder: Path) -> list[Path]:
    """Return those of an export, one for each process and device, or of all exports of a run."""
    ways = ("", "process-*/", "rounds/*[0-9]/", "rounds/*[0-9]/process-*/")
    return [path for way in ways for path in sorted(folder.glob(f"{way}manifest.csv"))]


def read_manifest(file: InputFile) -> Manifest:
    """Read a manifest; ProfileError where it cannot be, lacks a column, or a cell holds what none can."""
    header, separator = separated_header(file.head, (*_NUMBERS, "simulator_id", CACHES))
    for column in ("id", "simulator_id"):
        if column not in header:
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=_REMEDY)
    kinds: dict[str, Kind] = {name: "number" for name in _NUMBERS if name in header}
    kinds |= {name: "text" for name in ("simulator_id", CACHES, REPORT) if name in header}
    table = read_columns(file, header, separator, kinds, _REMEDY)
    size = len(table.line)
    numbers = {
        name: table.whole(name) if name in table else np.full(size, _NUMBERS[name]) for name in _NUMBERS
    }
    states = read_caches(table, _REMEDY) or [""] * size
    called, code = table.texts("simulator_id")
    matches = [_NUMBER.fullmatch(text) for text in called]
    number = np.array([int(match[1]) if match else UNNUMBERED for match in matches], dtype=np.int64)[code]
    reports, report_code = table.texts(REPORT) if REPORT in table else ([""], np.zeros(size, dtype=np.int64))
    order = np.lexsort((numbers["order"], numbers["shard"]))
    return Manifest(
        file.path,
        numbers["id"][order],
        number[order],
        numbers["shard"][order],
        numbers["warm_up"][order] > 0,
        tuple(states[row] for row in order.tolist()),
        numbers[DIRTY][order],
        tuple(reports[code] for code in report_code[order].tolist()),
    )
