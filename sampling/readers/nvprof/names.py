"""The names of kernels in nvprof's trace, and the numbers in brackets that end them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import IntArray
from sampling.arrow import to_arrow, to_numpy
from sampling.profile.profile import KernelTable

# The number in brackets ties a kernel to the API call that launched it.
_NAME = r"(?s)^(?P<name>.*?)(?:\s\[(?P<number>\d{1,18})\])?\s*$"


def numbered_names(cells: Any, kernels: KernelTable) -> tuple[NDArray[np.int32], IntArray | None]:
    """Return (n,) name codes and (n,) the numbers behind the names, None where a name has none."""
    name, number = _all_numbered(cells) or _some_numbered(cells)
    encoded = name.dictionary_encode()
    distinct = [each.decode("utf-8", "replace") for each in encoded.dictionary.to_pylist()]
    return kernels.names.intern(distinct)[to_numpy(encoded.indices)], number


def _all_numbered(cells: Any) -> tuple[Any, IntArray] | None:
    """Return the names and their numbers, None where one has none: a search for the last bracket is quick."""
    import pyarrow as pa
    from pyarrow import compute

    split = compute.split_pattern(cells, " [", max_splits=1, reverse=True)
    if not compute.all(compute.equal(compute.list_value_length(split), 2)).as_py():
        return None
    halves = split.flatten()
    name, rest = (halves.take(to_arrow(np.arange(first, len(halves), 2))) for first in (0, 1))
    try:
        digits = compute.ascii_rtrim(rest.cast(pa.string()), "] \r")
        return name, to_numpy(digits.cast(pa.int64()))
    except pa.ArrowInvalid:
        return None


def _some_numbered(cells: Any) -> tuple[Any, IntArray | None]:
    from pyarrow import compute

    name, number = compute.extract_regex(cells, _NAME).flatten()
    numbered = to_numpy(compute.greater(compute.binary_length(number), 0)).all()
    return name, whole_numbers(number) if numbered else None


def whole_numbers(cells: Any) -> IntArray:
    """Return (n,) integers from an Arrow array of digits."""
    import pyarrow as pa

    numbers: IntArray = to_numpy(cells.cast(pa.string()).cast(pa.int64()))
    return numbers
