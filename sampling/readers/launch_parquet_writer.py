"""Writes a profile as our own Parquet, part by part, in id order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sampling.arrays import AnyIntArray
from sampling.arrow import arrow_file, to_arrow, to_arrow_dictionary, to_arrow_texts
from sampling.profile.profile import Column, KernelTable, LaunchSequence, Profile
from sampling.progress import Progress
from sampling.readers.columns import BLOCK, GRID
from sampling.readers.launch_parquet import METADATA_KEY, facts_json
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_parts
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region


def write_launch_parquet(
    profile: Profile, region: Region, path: Path, progress: Progress | None = None
) -> int:
    """Write the selected launches and return how many there are; see `write_kept_launches`."""
    return write_kept_launches(profile, region, path, progress).launches


def write_kept_launches(
    profile: Profile, region: Region, path: Path, progress: Progress | None = None
) -> DurationCounts:
    """Write the selected launches and return what they come to, by name.

    Launch ids do not change: where the process numbers of several files are not in ascending order, processes
    are renumbered 0, 1, 2... Names and shapes are dictionary-encoded, so a profile
    shrinks to some bytes a launch. Columns the profile does not have are left out; grid and block that it
    does not know are 0. Metrics the profile itself has stay, as numbers with fractions.

    Raises
    ------
    EmptySelectionError : the region leaves no launch.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    optional: list[Column] = [name for name in ("start_ns", "stream") if name in profile.columns]
    fields = [("name", pa.dictionary(pa.int32(), pa.string())), ("duration_ns", pa.int64())]
    fields += [(name, pa.int64()) for name in (*GRID, *BLOCK, *optional, "process", "device")]
    fields += [(name, pa.float64()) for name in profile.metric_names]
    facts = profile.facts if region == Region() else replace(profile.facts, api_rows_missing=0)
    schema = pa.schema(fields, metadata={METADATA_KEY: facts_json(facts)})
    process_of = _ascending_processes(profile)
    counts = count_durations(profile, Grouping(GroupBy.NAME), region)
    chosen = counted_parts(profile, counts)
    sink = arrow_file(path, writing=True)
    with pq.ParquetWriter(sink, schema, compression="zstd", use_dictionary=True) as writer:
        for number, part in enumerate(chosen):
            table = part.load(("signature", "duration_ns", *optional))
            metrics = part.metrics(profile.metric_names)
            sequence = profile.sequences[part.sequence]
            name, *shape = _kernel_columns(profile.kernels, table["signature"])
            numbers = [table["duration_ns"], *shape, *(table[each] for each in optional)]
            numbers += [np.full(part.launches, each) for each in (process_of[sequence], sequence.device)]
            columns = [name, *(to_arrow(each.astype(np.int64, copy=False)) for each in numbers)]
            columns += [to_arrow(metrics[each]) for each in profile.metric_names]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            if progress is not None:
                progress(number + 1, len(chosen), "writing")
    return counts


def _ascending_processes(profile: Profile) -> dict[LaunchSequence, int]:
    """Return process numbers under which the sequences, sorted, are in the order of their ids."""
    places = [(sequence.process, sequence.device) for sequence in profile.sequences]
    number = {process: index for index, process in enumerate(dict.fromkeys(place[0] for place in places))}
    in_order = places == sorted(places)
    return {
        sequence: sequence.process if in_order else number[sequence.process] for sequence in profile.sequences
    }


def _kernel_columns(kernels: KernelTable, code: AnyIntArray) -> tuple[Any, ...]:
    """Return the names of signature codes, and x, y, z of grid and block."""
    rows = kernels.signature_rows()
    name = rows[:, 0][code]
    used = np.flatnonzero(np.bincount(name))
    place = np.zeros(len(kernels.names), dtype=np.int32)
    place[used] = np.arange(len(used))
    texts = to_arrow_texts([kernels.names.full(index) for index in used.tolist()])
    return to_arrow_dictionary(place[name], texts), *(rows[:, axis][code] for axis in range(1, 7))
