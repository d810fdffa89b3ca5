"""Which basic-block vectors lie within a relative distance of each other, zero-padded and by the thousand."""

from __future__ import annotations

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.launch_features import BlockVectors

# What a product of matrices may be off by, in units of eps and of the longer vector, with room to spare.
_ROUNDING_UNITS = 16


def distinct_vectors(vectors: BlockVectors) -> tuple[IntArray, IntArray]:
    """Return the code of each launch's vector and the first launch of each code, in order of appearance.

    Parameters
    ----------
    vectors : of n launches.

    Returns
    -------
    codes : (n,) 0 <= code < d; equal codes have equal vectors.
    first_rows : (d,) ascending. Vectors that differ in trailing zeros alone may have two codes.
    """
    import pyarrow as pa

    from sampling.arrow import to_numpy

    width = vectors.counts.dtype.itemsize
    texts = pa.Array.from_buffers(
        pa.large_binary(),
        len(vectors.warps),
        [
            None,
            pa.py_buffer(np.ascontiguousarray(vectors.offsets * width)),
            pa.py_buffer(np.ascontiguousarray(vectors.counts)),
        ],
    )
    codes = to_numpy(texts.dictionary_encode().indices).astype(np.int64)
    # Codes count up in order of appearance, so a new one is a new greatest.
    new = np.diff(np.maximum.accumulate(codes), prepend=-1) > 0
    return codes, np.flatnonzero(new)


def padded(vectors: BlockVectors, rows: IntArray, blocks: int) -> FloatArray:
    """Return (len(rows), blocks) the vectors of some launches, zeros behind their last count."""
    lengths = vectors.offsets[rows + 1] - vectors.offsets[rows]
    matrix = np.zeros((len(rows), blocks))
    inside = np.arange(blocks) < lengths[:, None]
    first = np.repeat(vectors.offsets[rows] - np.cumsum(lengths) + lengths, lengths)
    matrix[inside] = vectors.counts[first + np.arange(len(first))]
    return matrix


def within(vectors: FloatArray, others: FloatArray, distance: float) -> BoolArray:
    """Return (v, o) whether ||vector - other|| / ||vector|| < distance; the norm is the vector's own.

    A vector of zeros lies within any distance of zeros and of nothing else.

    Parameters
    ----------
    vectors : (v, blocks).
    others : (o, blocks).
    """
    # ||a - b||^2 = ||a||^2 + ||b||^2 - 2 a.b loses digits, so what it leaves in doubt is measured directly.
    own = np.einsum("ij,ij->i", vectors, vectors)[:, None]
    theirs = np.einsum("ij,ij->i", others, others)
    squared = own + theirs - 2 * (vectors @ others.T)
    limit = distance**2 * own
    doubt = _ROUNDING_UNITS * np.finfo(np.float64).eps * vectors.shape[1] * (own + theirs)
    near = squared < limit
    unsure = np.abs(squared - limit) <= doubt
    for index in np.flatnonzero(unsure.any(axis=1)).tolist():
        at = np.flatnonzero(unsure[index])
        norm = np.sqrt(own[index, 0])
        apart = np.linalg.norm(vectors[index] - others[at], axis=1)
        near[index, at] = apart / norm < distance if norm > 0 else apart == 0
    return np.asarray(near)
