"""The relative standard deviation of a signal over a window that ends at each of its samples."""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray, IntArray

#: With fewer there is no standard deviation.
LEAST_SAMPLES = 2


def relative_spread_percent(signal: FloatArray, first: IntArray) -> FloatArray:
    """Return (n,) 100 times standard deviation over mean of the window that ends at each sample.

    NaN for a window of one sample, and one of zeros alone. The standard deviation is the sample's (n - 1).

    Blocks of 1, 2, 4, ... samples are merged by mean and sum of squared deviations (Chan, Golub and LeVeque),
    so nothing cancels however long the log and however small the deviations: only deviations are squared.

    Parameters
    ----------
    signal : (n,) float64.
    first : (n,) int64, the index of the first sample of each window.
    """
    samples = np.arange(signal.size) - first + 1
    mean, squares = _window_moments(signal, samples)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = 100 * np.sqrt(squares / (samples - 1)) / np.abs(mean)
    return np.where(samples >= LEAST_SAMPLES, spread, np.nan)


def _window_moments(signal: FloatArray, samples: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return (n,) mean and sum of squared deviations of the last ``samples`` samples at each sample."""
    mean, squares = np.zeros(signal.size), np.zeros(signal.size)
    taken = np.zeros(signal.size, dtype=np.int64)
    block_mean, block_squares = signal.astype(np.float64), np.zeros(signal.size)
    size, largest = 1, int(samples.max(initial=0))
    while size <= largest:
        at = np.flatnonzero(samples & size)
        block = at - taken[at]
        mean[at], squares[at] = _merged(
            mean[at], squares[at], taken[at], block_mean[block], block_squares[block], size
        )
        taken[at] += size
        # Blocks that would begin before the log stay as they are: no window asks for them.
        block_mean[size:], block_squares[size:] = _merged(
            block_mean[size:], block_squares[size:], size, block_mean[:-size], block_squares[:-size], size
        )
        size *= 2
    return mean, squares


def _merged(
    mean: FloatArray,
    squares: FloatArray,
    count: IntArray | int,
    other_mean: FloatArray,
    other_squares: FloatArray,
    other_count: int,
) -> tuple[FloatArray, FloatArray]:
    """Return mean and sum of squared deviations of two sets of samples together."""
    total = count + other_count
    apart = other_mean - mean
    return (
        mean + apart * (other_count / total),
        squares + other_squares + apart * apart * (count * (other_count / total)),
    )
