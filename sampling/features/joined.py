"""What several sources say of the launches of a list, put together: of one metric the first source counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.launch_features import BlockVectors, Features
from sampling.text import counted


class ScatteredMetrics(Mapping[str, FloatArray]):
    """Metrics known for some of n launches, as arrays of all; each is built when it is asked for.

    A report of hundreds of metrics for the first launches of a million would not fit in memory otherwise.
    """

    def __init__(self, launches: int, parts: Mapping[str, Sequence[tuple[IntArray, FloatArray]]]) -> None:
        self._launches = launches
        self._parts = {name: tuple(of_metric) for name, of_metric in parts.items()}

    def __getitem__(self, name: str) -> FloatArray:
        """Return (n,) the values of a metric; of several values for one launch the first counts."""
        values = np.full(self._launches, np.nan)
        for places, part in reversed(self._parts[name]):
            known = ~np.isnan(part)
            values[places[known]] = part[known]
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


class JoinedFeatures:
    """What is known of n launches so far."""

    def __init__(self, launches: int) -> None:
        self._launches = launches
        self._parts: dict[str, list[tuple[IntArray, FloatArray]]] = {}
        self._units: dict[str, str] = {}
        self._vectors: list[BlockVectors] = []
        self._vector_row = np.full(launches, -1, dtype=np.int64)
        self._vector_rows = 0

    def features(self) -> Features:
        """Return everything."""
        return Features(
            metrics=ScatteredMetrics(self._launches, self._parts),
            units=dict(self._units),
            block_vectors=_gathered(self._vectors, self._vector_row) if self._vectors else None,
        )

    def add(self, features: Features, rows: IntArray, places: IntArray) -> tuple[str, ...]:
        """Add what some rows of a file say; return where that disagrees with what is known, in words.

        Parameters
        ----------
        rows : the rows that belong to a selected launch.
        places : (rows of the file,) the place in the list of each row's launch.
        """
        at = places[rows]
        notes = []
        for name, values in features.metrics.items():
            note = self._add_metric(name, features.units.get(name), at, np.asarray(values)[rows])
            notes += [note] if note else []
        if features.block_vectors is not None:
            notes += self._add_vectors(features.block_vectors, rows, at)
        return tuple(notes)

    def _add_metric(self, name: str, unit: str | None, at: IntArray, values: FloatArray) -> str | None:
        known = self._parts.setdefault(name, [])
        note = None
        if known:
            earlier = self._units.get(name, unit)
            if unit is not None and earlier != unit:
                return f"'{name}' is left out: it is in {unit} here and in {earlier} in an earlier file"
            before = ScatteredMetrics(self._launches, {name: known})[name][at]
            other = (before != values) & ~np.isnan(before) & ~np.isnan(values)
            if other.any():
                first = int(np.argmax(other))
                differing = counted(int(other.sum()), "launch", "launches")
                note = (
                    f"'{name}' has other values in an earlier file for {differing} "
                    f"({before[first]:.6g} there, {values[first]:.6g} here); the earlier ones count"
                )
        known.append((at, values))
        if unit is not None:
            self._units[name] = unit
        return note

    def _add_vectors(self, vectors: BlockVectors, rows: IntArray, at: IntArray) -> list[str]:
        free = self._vector_row[at] < 0
        self._vector_row[at[free]] = rows[free] + self._vector_rows
        self._vectors.append(vectors)
        self._vector_rows += len(vectors.warps)
        taken = int(np.count_nonzero(~free))
        keep = "keeps" if taken == 1 else "keep"
        launches = counted(taken, "launch", "launches")
        return [f"{launches} {keep} the vectors of an earlier file"] if taken else []


def _gathered(sources: Sequence[BlockVectors], row: IntArray) -> BlockVectors:
    """Return the vectors of launches, ``row`` of all sources together for each, -1 for none."""
    counts = np.concatenate([each.counts for each in sources])
    lengths = np.concatenate([np.diff(each.offsets) for each in sources])
    starts = np.cumsum(lengths) - lengths
    warps = np.concatenate([each.warps for each in sources])
    has = row >= 0
    source = np.where(has, row, 0)
    length = np.where(has, lengths[source], 0)
    offsets = np.concatenate([[0], np.cumsum(length)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length)
    return BlockVectors(
        offsets=offsets.astype(np.int64),
        counts=counts[np.repeat(starts[source], length) + within],
        warps=np.where(has, warps[source], 0),
    )
