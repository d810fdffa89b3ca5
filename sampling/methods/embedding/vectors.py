"""The vector of every launch: which columns of numbers it is made of, and in which scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import NotApplicableError
from sampling.features.formats.npy import VECTOR_PREFIX
from sampling.features.metric_names import COSTS, is_cost
from sampling.methods.pka.characteristics import TENSOR_PREFIX, standardise
from sampling.methods.pka.distinct_rows import DistinctRows, distinct_rows
from sampling.reduction.launch_features import Features
from sampling.reduction.launch_list import LaunchList
from sampling.text import Wording, counted, listed

Scale = Literal["plain", "standard", "unit"]

# Components of unit vectors that are closer than this are equal but for rounding.
_UNIT_DECIMALS = 12
_REMEDY = Wording(
    "give a CSV or Parquet file with a column id and a column for each number, or an npy file with a row for "
    "every launch in the order of their ids, to `features`"
)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a list's launches.

    Attributes
    ----------
    rows : the distinct vectors, in the scale asked for.
    columns : the metrics behind their components, before the scale left any out.
    notes : what the user should know of what was left out.
    """

    rows: DistinctRows
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def launch_vectors(launches: LaunchList, prefix: str | None, scale: Scale) -> Vectors:
    """Return the vector of every launch.

    Parameters
    ----------
    prefix : how the names of the columns begin; None: those of an npy file, or, where there is none, every
        metric but times and tensor shapes.

    Raises
    ------
    NotApplicableError : there is no such column, or a launch lacks one of its numbers.
    """
    features = launches.features or Features()
    columns, costs = _columns(features, prefix)
    if not columns:
        begins = "" if prefix is None else f" whose names begin with {prefix!r}"
        raise NotApplicableError(
            f"embedding needs a vector of every launch, and the profile has no numbers{begins} to make it of",
            remedy=_REMEDY,
        )
    values = {name: features.metrics[name] for name in columns}
    _require_every_number(launches, values)
    rows, notes = _scaled(values, columns, len(launches), scale)
    if costs:
        notes = (*notes, f"left out of the vectors: {listed(costs)}; no method goes by {COSTS}")
    return Vectors(rows, columns, notes)


def _columns(features: Features, prefix: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of the vector, and those left out as they are what is to be projected."""
    if prefix is not None:
        return tuple(name for name in features.metrics if name.startswith(prefix)), ()
    of_npy = tuple(name for name in features.metrics if name.startswith(VECTOR_PREFIX))
    if of_npy:
        return of_npy, ()
    measured = [
        name
        for name in features.metrics
        if not name.startswith(TENSOR_PREFIX) and np.isfinite(features.metrics[name]).any()
    ]
    costs = tuple(name for name in measured if is_cost(name, features.units.get(name)))
    return tuple(name for name in measured if name not in costs), costs


def _require_every_number(launches: LaunchList, values: dict[str, FloatArray]) -> None:
    """Raise NotApplicableError where some launch lacks a number; says how many, and which first."""
    lacks = np.zeros(len(launches), dtype=np.bool_)
    for column in values.values():
        lacks |= ~np.isfinite(column)
    if not lacks.any():
        return
    first = int(np.argmax(lacks))
    name = next(name for name, column in values.items() if not np.isfinite(column[first]))
    lacking = int(np.count_nonzero(lacks))
    verb = "lacks" if lacking == 1 else "lack"
    raise NotApplicableError(
        f"embedding needs the whole vector of every launch; {lacking:,} of "
        f"{counted(len(launches), 'launch', 'launches')} {verb} numbers of it, launch "
        f"{int(launches.id[first])} '{name}' for one",
        remedy=_REMEDY,
    )


def _scaled(
    values: dict[str, FloatArray], columns: tuple[str, ...], launches: int, scale: Scale
) -> tuple[DistinctRows, tuple[str, ...]]:
    if scale == "standard":
        table = standardise(values, columns)
        return table.rows, table.notes()
    rows = distinct_rows(list(values.values()), launches)
    if scale == "plain":
        return rows, ()
    length = np.linalg.norm(rows.values, axis=1)
    unit = rows.values / np.where(length > 0, length, 1.0)[:, np.newaxis]
    empty = int(rows.count[length == 0].sum())
    notes = (f"{counted(empty, 'vector is', 'vectors are')} 0 and has no direction",) if empty else ()
    return rows.with_values(unit, _UNIT_DECIMALS), notes
