"""The launches of a profile written as Parquet, for `launch_tables` to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sampling.arrays import AnyIntArray, arrow_file, to_arrow, to_arrow_texts
from sampling.parallel import Progress
from sampling.profile.profile import Column, Part, Profile
from sampling.profile.times import NO_START
from sampling.readers.columns import BLOCK, GRID
from sampling.readers.launch_tables import METADATA_KEY
from sampling.record import Count, Index, Record
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_parts
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region

if TYPE_CHECKING:
    import pyarrow as pa


class ConvertedProfile(Record, frozen=True):
    """A profile that was written as Parquet."""

    launches: Index
    bytes: Count


def write_launch_parquet(
    profile: Profile, region: Region, path: Path, progress: Progress | None = None
) -> DurationCounts:
    """Write the selected launches and return what they come to, by name.

    Times are as the profile has them: what was mended is not looked at again when the file is read. Launch
    ids do not change: where the process numbers of several files are not in ascending order, processes
    are renumbered 0, 1, 2... Names and shapes are dictionary-encoded, so a profile shrinks to some bytes a
    launch. Columns the profile does not have are left out; grid and block that it does not know are 0. Its
    own metrics stay, as numbers with fractions.

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
    schema = pa.schema(fields, metadata={METADATA_KEY: json.dumps(asdict(facts)).encode()})
    counts = count_durations(profile, Grouping(GroupBy.NAME), region)
    parts = counted_parts(profile, counts)
    sink = arrow_file(path, writing=True)
    with pq.ParquetWriter(sink, schema, compression="zstd", use_dictionary=True) as writer:
        for number, columns in enumerate(_written_columns(profile, parts, optional)):
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            if progress is not None:
                progress(number + 1, len(parts), "writing")
    return counts


def _written_columns(
    profile: Profile, parts: Sequence[Part], optional: Sequence[Column]
) -> Iterator[list[Any]]:
    """Yield the columns of each part, in the order of the file."""
    import pyarrow as pa

    kernels = profile.kernels
    places = [(sequence.process, sequence.device) for sequence in profile.sequences]
    numbers = {process: index for index, process in enumerate(dict.fromkeys(place[0] for place in places))}
    in_order = places == sorted(places)
    for part in parts:
        table = part.load(("signature", "duration_ns", *optional))
        metrics = part.metrics(profile.metric_names)
        process, device = places[part.sequence]
        process = process if in_order else numbers[process]
        shape = kernels.signature_rows()
        name = shape[:, 0][table["signature"]]
        used = np.flatnonzero(np.bincount(name))
        code = np.zeros(len(kernels.names), dtype=np.int32)
        code[used] = np.arange(len(used))
        texts = to_arrow_texts([kernels.names.full(index) for index in used.tolist()])
        columns = [table["duration_ns"], *(shape[:, axis][table["signature"]] for axis in range(1, 7))]
        columns += [table[column] for column in optional]
        columns += [np.full(part.launches, number) for number in (process, device)]
        yield [
            pa.DictionaryArray.from_arrays(to_arrow(code[name]), texts),
            *(_arrow_integers(column) for column in columns),
            *(to_arrow(metrics[column]) for column in profile.metric_names),
        ]


def _arrow_integers(values: AnyIntArray) -> pa.Array:
    """Return (n,) integers, a start that was not recorded as null."""
    import pyarrow as pa

    integers = values.astype(np.int64, copy=False)
    return to_arrow(integers) if integers.min() > NO_START else pa.array(integers, mask=integers == NO_START)
