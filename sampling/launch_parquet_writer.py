"""Writes a profile as our own Parquet, span by span, in id order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sampling.profile import Column, KernelTable, Profile
from sampling.progress import Progress
from sampling.regions import Region, names_kept, names_passing, selections


def write_launch_parquet(
    profile: Profile, region: Region, path: Path, progress: Progress | None = None
) -> int:
    """Write the selected launches and return how many there are.

    Names and shapes are dictionary-encoded, so a profile shrinks to some bytes a launch. Columns the profile
    does not have are left out; grid and block that it does not know are 0.

    Raises
    ------
    EmptySelectionError : the region leaves no launch.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    optional: list[Column] = [name for name in ("start_ns", "stream") if name in profile.columns]
    fields = [("name", pa.dictionary(pa.int32(), pa.string())), ("duration_ns", pa.int64())]
    fields += [(f"{what}_{axis}", pa.int64()) for what in ("grid", "block") for axis in "xyz"]
    fields += [(name, pa.int64()) for name in (*optional, "process", "device")]
    schema = pa.schema(fields)
    launches = 0
    present = np.zeros(0, dtype=np.bool_)
    chosen = selections(profile, region)
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=True) as writer:
        for number, selection in enumerate(chosen):
            batch = profile.read(selection.span, ("signature", "duration_ns", *optional))
            code = batch["signature"][selection.rows]
            present = _with_names(present, profile.kernels, code)
            kept = names_passing(profile, region)[profile.kernels.signature_names()][code]
            rows = int(kept.sum())
            sequence = profile.sequences[selection.span.sequence]
            columns = [
                *_kernel_columns(profile.kernels, code[kept]),
                *(batch[name][selection.rows][kept].astype(np.int64) for name in optional),
                np.full(rows, sequence.process, dtype=np.int64),
                np.full(rows, sequence.device, dtype=np.int64),
            ]
            columns.insert(1, batch["duration_ns"][selection.rows][kept].astype(np.int64))
            writer.write_table(pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema))
            launches += rows
            if progress is not None:
                progress(number + 1, len(chosen), "writing")
    if launches == 0:
        names_kept(profile, region, present)
    return launches


def _with_names(
    present: np.ndarray[Any, np.dtype[np.bool_]],
    kernels: KernelTable,
    code: np.ndarray[Any, np.dtype[np.integer[Any]]],
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return (names so far,) which names have launches, those of some signature codes added."""
    grown = np.zeros(len(kernels.names), dtype=np.bool_)
    grown[: len(present)] = present
    grown[kernels.signature_names()[np.unique(code)]] = True
    return grown


def _kernel_columns(kernels: KernelTable, code: np.ndarray[Any, np.dtype[np.integer[Any]]]) -> list[Any]:
    """Return the name, grid and block columns of signature codes."""
    import pyarrow as pa

    table = [kernels.signature(index) for index in range(len(kernels))]
    name_of = np.array([signature.name for signature in table], dtype=np.int32)
    names = pa.array([kernels.names.full(index) for index in range(len(kernels.names))])
    shapes = np.array(
        [(*(signature.grid or (0, 0, 0)), *(signature.block or (0, 0, 0))) for signature in table],
        dtype=np.int64,
    )
    return [pa.DictionaryArray.from_arrays(pa.array(name_of[code]), names), *shapes[code].T]
