"""A NumPy array file of vectors: row i is the launch with id i, every column a number of its vector."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from sampling.errors import ProfileError
from sampling.features.rows import FeatureRows
from sampling.features.tables.columns import infinite_notes
from sampling.features.tables.number_cells import NumberLocale
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.reduction.launch_features import Features

FORMAT = "npy"
#: Columns have no names there; they are metrics of this name and their number, from 0.
VECTOR_PREFIX = "vector_"
# Whole numbers, signed or not, floating-point numbers, and truth values.
_NUMBER_KINDS = "iufb"
_REMEDY = "write numbers with numpy.save, a row for every launch in the order of their ids"


# What numpy raises of a header that is none: it is read as Python.
_DAMAGED = (ValueError, KeyError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError)


def recognise(file: InputFile) -> bool:
    """Return whether this is an array as numpy.save writes it."""
    return file.head.startswith(npy_format.MAGIC_PREFIX)


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of the array, one a launch of the whole profile.

    Raises
    ------
    ProfileError : it is cut short or damaged, holds no numbers, or is no table.
    """
    with file.on_disk() as location, file.damage_reported():
        values = _array(location, file.path)
    launches = len(values)
    if progress is not None:
        progress(launches, launches, f"reading {file.path}")
    metrics = {}
    infinite = []
    for column in range(values.shape[1]):
        # The file may have another width or byte order of its numbers.
        numbers = values[:, column].astype(np.float64)
        beyond = np.isinf(numbers)
        name = f"{VECTOR_PREFIX}{column}"
        if beyond.any():
            numbers[beyond] = np.nan
            infinite.append(name)
        metrics[name] = numbers
    return FeatureRows(
        path=file.path,
        format=FORMAT,
        line=np.arange(1, launches + 1),
        features=Features(metrics=metrics),
        id=np.arange(launches),
        whole_profile=True,
        notes=infinite_notes(infinite),
    )


def _array(location: Path, path: str) -> np.ndarray[Any, Any]:
    """Return the (n, columns) numbers; nothing in the file is run or unpickled."""
    with location.open("rb") as stream:
        try:
            shape, by_column, kind = _header(stream)
        except _DAMAGED as error:
            raise ProfileError(
                "an array file with a damaged header", path=path, remedy="copy or write the file again"
            ) from error
        start = stream.tell()
    if kind.kind not in _NUMBER_KINDS:
        holds = "text" if kind.kind in "US" else str(kind)
        raise ProfileError(f"an array of {holds}, not of numbers", path=path, remedy=_REMEDY)
    if len(shape) not in (1, 2) or 0 in shape:
        size = " x ".join(map(str, shape)) or "no dimension"
        raise ProfileError(f"an array of {size}, not rows of numbers", path=path, remedy=_REMEDY)
    rows, columns = shape if len(shape) == 2 else (shape[0], 1)
    if rows < 0 or columns < 0 or location.stat().st_size < start + rows * columns * kind.itemsize:
        raise ProfileError(
            f"an array of {rows:,} x {columns:,} numbers that is cut short",
            path=path,
            remedy="copy or write the file again",
        )
    values = np.fromfile(location, dtype=kind, count=rows * columns, offset=start)
    return values.reshape(rows, columns, order="F" if by_column else "C")


def _header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether columns come first, and the kind of the numbers; ValueError for what is odd."""
    version = npy_format.read_magic(stream)
    if version == (1, 0):
        return npy_format.read_array_header_1_0(stream)
    # Version 3 differs in the names of fields, and arrays with fields are no vectors.
    return npy_format.read_array_header_2_0(stream)
