"""Where a Gaussian kernel density estimate of weighted values has its valleys, on a grid."""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray, IntArray

#: Points of the grid the density is looked at on, which reaches 3 bandwidths beyond the values.
GRID_POINTS = 512
_MARGIN_BANDWIDTHS = 3
# A valley shallower than this, in log density, is the rounding of the sums and not a minimum.
_ROUNDING = 1e-9
# A value whose share of the density is below exp(-40) of the nearest value's is below a double's precision.
_NEGLIGIBLE = 40.0
_VALUES_AT_ONCE = 1024


def silverman_bandwidth(values: FloatArray, count: IntArray) -> float:
    """Return sigma (4 / (3 n))^(1/5), the normal reference rule. [Silverman 1986, Eq. 3.28]

    n is the number of observations and sigma their sample standard deviation (n - 1), as in SciPy's
    ``gaussian_kde(bw_method="silverman")``. scikit-learn's "silverman" leaves sigma out.

    Parameters
    ----------
    values, count : (k,) distinct values and how often each was observed; k >= 2.
    """
    observations = int(count.sum())
    mean = np.dot(values, count) / observations
    variance = np.dot((values - mean) ** 2, count) / (observations - 1)
    return float(np.sqrt(variance) * (4 / (3 * observations)) ** 0.2)


def log_density(at: FloatArray, values: FloatArray, count: IntArray, bandwidth: float) -> FloatArray:
    """Return the log of the density at each point, up to a constant.

    Notes
    -----
    Written out because scikit-learn's KernelDensity takes 9 s for 200,000 values, and far from all values,
    where the valleys are, the bounds it subtracts from each other leave errors of several per cent. Here each
    term is taken relative to the nearest value's, so nothing underflows however far the values lie apart.

    Parameters
    ----------
    at : (g,) points, ascending.
    values, count : (k,) distinct values, ascending, and how often each was observed.
    """
    place = np.searchsorted(values, at)
    below = np.abs(at - values[np.maximum(place - 1, 0)])
    above = np.abs(at - values[np.minimum(place, len(values) - 1)])
    nearest = (np.minimum(below, above) / bandwidth) ** 2 / 2
    furthest = nearest + np.log(count.sum()) + _NEGLIGIBLE
    weight = count.astype(np.float64)
    total = np.zeros(len(at))
    for start in range(0, len(values), _VALUES_AT_ONCE):
        part = values[start : start + _VALUES_AT_ONCE]
        gap = np.maximum(np.maximum(part[0] - at, at - part[-1]), 0)
        rows = np.flatnonzero((gap / bandwidth) ** 2 / 2 <= furthest)
        distance = (at[rows, None] - part) / bandwidth
        terms = np.exp(nearest[rows, None] - distance**2 / 2)
        total[rows] += terms @ weight[start : start + _VALUES_AT_ONCE]
    return np.asarray(np.log(total) - nearest)


def valleys(values: FloatArray, count: IntArray) -> FloatArray:
    """Return the grid points at which the density of the values has a strict local minimum, ascending.

    A minimum that falls between two grid points of equal density, as that between two equally frequent
    values does, counts as one, at the lower of the two.

    Parameters
    ----------
    values, count : (k,) distinct values, ascending, and how often each was observed; k >= 2.
    """
    from scipy.signal import find_peaks

    bandwidth = silverman_bandwidth(values, count)
    margin = _MARGIN_BANDWIDTHS * bandwidth
    grid = np.linspace(values[0] - margin, values[-1] + margin, GRID_POINTS)
    places, _ = find_peaks(-log_density(grid, values, count, bandwidth), prominence=_ROUNDING)
    return np.asarray(grid[places])
