"""How well a variance is known: Satterthwaite's degrees of freedom, and quantiles of Student's t.

A declared variance V = sum V_i of strata is checked where launches tell a spread: a stratum of m_i launches
with d_i = m_i - 1, and strata of one launch of a kernel group, all L together with d = L - 1, about their
mean. (docs/methods.md, 11 Back from the simulator)

    p = sum_seen V / sum V,   d = (sum_seen V)^2 / sum_seen (V_i V*_i / d_i),   D = p d

V*_i is V_i, or the sum over the strata that share one spread. The declared counts for 4 degrees of freedom
beside these D. [Satterthwaite 1946, "An approximate distribution of estimates of variance components"]
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import active_count
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.parallel import Lock

#: So many degrees of freedom the declared spreads count for, beside those that a sample shows.
PRIOR_DF = 4.0
#: A stratum with less of the declared variance of its group's largest tells nothing of the spread.
TELLS_FROM = 0.01
# Beyond so many degrees of freedom t is the normal quantile to more digits than any interval has.
_MANY = 1e9


class Satterthwaite(NamedTuple):
    """What is seen of a declared variance, (...,)."""

    #: The sum over all strata, and over those where a spread is seen.
    declared_var: FloatArray
    observed_var: FloatArray
    #: d of the observed, 0 where nothing is seen; p, 1 where nothing is declared.
    df: FloatArray
    share: FloatArray

    @property
    def effective_df(self) -> FloatArray:
        """D, for which the sample counts beside the declared."""
        return self.share * self.df


def satterthwaite(var: FloatArray, df: FloatArray, is_single: BoolArray, group: IntArray) -> Satterthwaite:
    """Return what (..., s) strata tell of their variances, with the degrees of freedom behind each.

    Those of one launch share their group's, ``group`` (s,) numbered from 0 without gaps.
    """
    observed = np.where(df > 0, var, 0.0)
    shared = np.where(is_single, sum_groups(is_single * observed, group), observed)
    declared_var, observed_var = var.sum(axis=-1), observed.sum(axis=-1)
    variance_of_variance = (observed * shared / np.maximum(df, 1)).sum(axis=-1)
    observed_df = divide(observed_var**2, variance_of_variance, 0.0)
    return Satterthwaite(declared_var, observed_var, observed_df, divide(observed_var, declared_var, 1.0))


def replicate_df(
    var: FloatArray, launches: ArrayLike, samples: ArrayLike, lasts: BoolArray, group: IntArray
) -> tuple[BoolArray, FloatArray]:
    """Return (..., s) which strata of one launch tell a spread together, and each stratum's d_i.

    A stratum that shows no time (``lasts``) or next to none of its group's declared variance tells nothing:
    one launch of 0 ns may depart by any factor.
    """
    tells = lasts & (var >= TELLS_FROM * sum_groups(var, group, np.maximum))
    is_single = tells & (np.asarray(samples) == 1) & (np.asarray(launches) > 1)
    count = sum_groups(is_single, group)
    return is_single, tells * (np.where(is_single, count, samples) - 1)


def sum_groups(values: ArrayLike, group: IntArray, add: np.ufunc = np.add) -> FloatArray:
    """Return (..., s) for each stratum the sum, or what else adds up, over the strata of its group."""
    values = np.asarray(values, dtype=np.float64)
    if not values.any():
        return np.zeros(values.shape)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.asarray(add.reduceat(values[..., order], starts, axis=-1)[..., group])


def divide(above: FloatArray, below: FloatArray, otherwise: float) -> FloatArray:
    """Return the ratio, and something else where the denominator is not above 0."""
    above, below = np.broadcast_arrays(above, below)
    return np.asarray(np.divide(above, below, out=np.full(below.shape, otherwise), where=below > 0))


def student_t(confidence: float, df: FloatArray | float) -> FloatArray:
    """Return the two-sided quantile of Student's t for any positive degrees of freedom, inf among them.

    >>> student_t(0.95, np.array([2, 10, np.inf])).round(3).tolist()
    [4.303, 2.228, 1.96]
    """
    return np.asarray(_special().stdtrit(np.minimum(df, _MANY), 0.5 + confidence / 2))


def exceeds_chi_squared(values: FloatArray, df: FloatArray, chance: float) -> BoolArray:
    """Return where a chi-squared variable is larger than chance makes it; never of 0 degrees of freedom."""
    return np.asarray((df > 0) & (values > _special().chdtri(np.maximum(df, 1e-9), chance)))


_LOADING = Lock()


@cache
def _special() -> ModuleType:
    """Return SciPy's special functions as the extension that has them.

    Importing the whole package takes ten times as long, a third of the time of a small plan.
    """
    import scipy

    name = "scipy.special"
    with _LOADING, suppress(ImportError):
        # Another thread that imports the package meanwhile would find one that is none.
        if name not in sys.modules and active_count() == 1:
            sys.modules[name] = package = ModuleType(name)
            package.__path__ = [str(Path(scipy.__file__).with_name("special"))]
            try:
                return import_module(f"{name}._ufuncs")
            finally:
                del sys.modules[name]
    return import_module(name)
