"""Photon between kernels: a launch is skipped where one of like blocks was kept. [Photon, MICRO 2023]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, to_numpy
from sampling.errors import NotApplicableError
from sampling.methods.method import FRACTION, Method, Picks, setting
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import BlockVectors, LaunchList
from sampling.text import Wording

_WARP_THREADS = 32
# Rows of a matrix of distances, and its cells, that are held at once.
MOST_ROWS = 1024
MOST_CELLS = 1 << 22
# Pairs of a distinct vector and a kept one; some minutes of comparing.
MOST_COMPARISONS = 4_000_000_000
# What a product of matrices may be off by, in units of eps and of the longer vector, with room to spare.
_ROUNDING_UNITS = 16
_REMEDY = Wording(
    "give `features` the basic-block vectors of an NVBit tool: two lines a kernel, "
    "'Kernel<id>,<blocks>,<warps>,<name>' and its counts"
)


@dataclass(frozen=True, slots=True)
class Options:
    """How like two launches must be."""

    distance: float = setting(
        0.05,
        "a launch matches a kept one if their vectors are less apart than this share of its own norm",
        **FRACTION,
    )


def pick(launches: LaunchList, options: Options, _: np.random.Generator, progress: Progress | None) -> Picks:
    """Scan in launch order: match a launch to a kept one within 5 % of its vector, or keep it.

    Of several kept launches that match, the one with the nearest number of warps is taken, the first kept of
    those equally near. Kernel groups do not matter: any launch may match any other.

    Of the launches of one vector at most the first is kept, whatever their warps: it was kept or matched a
    kept launch, and all after it match the same one. So the scan that decides what is kept needs the distinct
    vectors only. Which kept launch a later one matches does depend on what was kept in between.
    """
    vectors, shape = None if launches.features is None else launches.features.block_vectors, launches.shapes()
    warps, complete = np.zeros(len(launches), dtype=np.int64), np.zeros(len(launches), dtype=np.bool_)
    if vectors is not None:
        of_shape = -(-shape[:, 4:].prod(axis=1) // _WARP_THREADS) * shape[:, 1:4].prod(axis=1)
        warps = np.where(vectors.warps > 0, vectors.warps, of_shape)
        complete = (warps > 0) & (np.diff(vectors.offsets) > 0)
    if vectors is None or not complete.all():
        lack = f"{np.count_nonzero(~complete):,} of {len(launches):,} lack them"
        needs = "photon needs the basic-block vector of every launch, and its warps or its grid and block"
        raise NotApplicableError(f"{needs}; {lack}", remedy=_REMEDY)
    if not (np.isfinite(vectors.counts).all() and (vectors.counts >= 0).all()):
        needs = "photon needs counts of basic blocks"
        raise NotApplicableError(f"{needs}, and some of them are negative or no number", remedy=_REMEDY)
    vector, first_rows = _distinct_vectors(vectors)
    representatives, matrix = _kept(vectors, first_rows, options.distance, progress)
    # The kept launches that each distinct vector matches, one after the other.
    sizes, columns, at_once = list[IntArray](), list[IntArray](), _rows_at_once(len(representatives))
    for start in range(0, len(first_rows), at_once):
        rows = first_rows[start : start + at_once]
        near = _within(_padded(vectors, rows), matrix, options.distance)
        sizes.append(near.sum(axis=1))
        columns.append(np.nonzero(near)[1])
        if progress is not None:
            progress(start + len(rows), len(first_rows), "comparing with the launches kept")
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    matched = _matched(offsets, np.concatenate(columns), vector, warps, representatives)
    names = [launches.kernels.names.full(code) for code in shape[representatives, 0].tolist()]
    return Picks(
        stratum=matched,
        labels=tuple(
            f"like launch {launch}, {name}"
            for launch, name in zip(launches.id[representatives].tolist(), names, strict=True)
        ),
        row=representatives,
        weight=np.bincount(matched, minlength=len(representatives)).astype(np.float64),
        details={"distinct_vectors": len(first_rows), "blocks": matrix.shape[1]},
    )


def _kept(
    vectors: BlockVectors, first_rows: IntArray, distance: float, progress: Progress | None
) -> tuple[IntArray, FloatArray]:
    """Return (k,) the rows of the launches that match none before them, and (k, blocks) their vectors."""
    representatives, matrix, looked_at = np.zeros(0, dtype=np.int64), _padded(vectors, first_rows[:0]), 0
    while looked_at < len(first_rows):
        rows = first_rows[looked_at : looked_at + _rows_at_once(len(representatives))]
        batch = _padded(vectors, rows)
        new = np.flatnonzero(~_within(batch, matrix, distance).any(axis=1))
        near = _within(batch[new], batch[new], distance)
        matches, additions = np.zeros(len(new), dtype=np.bool_), []
        for index in range(len(new)):
            if not matches[index]:
                additions.append(new[index])
                matches |= near[:, index]
        matrix = np.concatenate([matrix, batch[additions]])
        representatives = np.concatenate([representatives, rows[additions]])
        looked_at += len(rows)
        if len(representatives) * len(first_rows) > MOST_COMPARISONS:
            raise NotApplicableError(
                f"photon compares all {len(first_rows):,} distinct vectors with every launch it keeps, "
                f"{len(representatives):,} of the first {looked_at:,}, and time grows with their product",
                remedy=Wording("give a larger photon.distance, or part of the profile by `launches=A:B`"),
            )
        if progress is not None:
            progress(looked_at, len(first_rows), "comparing basic-block vectors")
    return representatives, matrix


def _matched(
    offsets: IntArray, near: IntArray, vector: IntArray, warps: IntArray, representatives: IntArray
) -> IntArray:
    """Return (n,) the kept launch, up to itself, that each launch matches: nearest in warps, then the first.

    Distinct vector i matches the kept launches ``near[offsets[i]:offsets[i + 1]]``.
    """
    sizes, matched = np.diff(offsets)[vector], np.empty(len(vector), dtype=np.int64)
    run = np.cumsum(sizes) // MOST_CELLS
    for block in np.split(np.arange(len(vector)), np.flatnonzero(np.diff(run)) + 1):
        size = sizes[block]
        begin = np.cumsum(size) - size
        launch = np.repeat(block, size)
        of_kept = near[np.arange(len(launch)) + np.repeat(offsets[vector[block]] - begin, size)]
        apart = np.abs(warps[launch] - warps[representatives[of_kept]])
        apart[representatives[of_kept] > launch] = np.iinfo(np.int64).max
        # Backwards, so that of equally near ones the first is what stays.
        best = np.flatnonzero(apart == np.repeat(np.minimum.reduceat(apart, begin), size))[::-1]
        matched[launch[best]] = of_kept[best]
    return matched


def _rows_at_once(columns: int) -> int:
    return max(1, min(MOST_ROWS, MOST_CELLS // max(columns, 1)))


def _distinct_vectors(vectors: BlockVectors) -> tuple[IntArray, IntArray]:
    """Return (n,) the code of each vector and (d,) the first launch of each, in order of appearance."""
    import pyarrow as pa

    offsets = np.ascontiguousarray(vectors.offsets * vectors.counts.dtype.itemsize)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(vectors.counts))]
    texts = pa.Array.from_buffers(pa.large_binary(), len(vectors.warps), buffers)
    codes = to_numpy(texts.dictionary_encode().indices).astype(np.int64)
    # Codes count up in order of appearance, so a new one is a new greatest.
    return codes, np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1) > 0)


def _padded(vectors: BlockVectors, rows: IntArray) -> FloatArray:
    """Return (len(rows), blocks) the vectors of some launches, zeros behind their last count."""
    all_lengths = np.diff(vectors.offsets)
    lengths = all_lengths[rows]
    matrix = np.zeros((len(rows), int(all_lengths.max())))
    first = np.repeat(vectors.offsets[rows] - np.cumsum(lengths) + lengths, lengths)
    matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = vectors.counts[first + np.arange(len(first))]
    return matrix


def _within(vectors: FloatArray, references: FloatArray, distance: float) -> BoolArray:
    """Return (v, o) whether ||vector - other|| / ||vector|| < distance; the norm is the vector's own.

    A vector of zeros lies within any distance of zeros and of nothing else.
    """
    # ||a - b||^2 = ||a||^2 + ||b||^2 - 2 a.b loses digits, so what it leaves in doubt is measured directly.
    squares = np.einsum("ij,ij->i", vectors, vectors)[:, None]
    theirs = np.einsum("ij,ij->i", references, references)
    squared = squares + theirs - 2 * (vectors @ references.T)
    limit = distance**2 * squares
    doubt = _ROUNDING_UNITS * np.finfo(np.float64).eps * vectors.shape[1] * (squares + theirs)
    near = squared < limit
    unsure = np.abs(squared - limit) <= doubt
    for index in np.flatnonzero(unsure.any(axis=1)).tolist():
        pairs = np.flatnonzero(unsure[index])
        norm = np.sqrt(squares[index, 0])
        apart = np.linalg.norm(vectors[index] - references[pairs], axis=1)
        near[index, pairs] = apart / norm < distance if norm > 0 else apart == 0
    return np.asarray(near)


METHOD = Method(
    name="photon",
    source="Photon (MICRO 2023), kernel-level sampling",
    description="A launch stands for later ones of its kernel that execute nearly the same blocks of code.",
    needs=("the basic-block vector of every launch", "its warps, or its grid and block"),
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)
