"""The metrics that launches are compared by: which ones, standardised, and their principal components.

[Principal Kernel Analysis section 3.1, Table 2]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sampling.arrays import BoolArray, FloatArray
from sampling.errors import NotApplicableError
from sampling.features.metric_names import CHARACTERISTICS, COSTS, is_cost
from sampling.methods.pka.distinct_rows import DistinctRows, distinct_rows
from sampling.methods.settings import setting
from sampling.reduction.launch_list import Features, LaunchList
from sampling.text import Wording

#: Which metrics launches are compared by, as `column_setting` says.
ColumnChoice = Literal["published", "all"]

#: Metrics of this prefix are tensor shapes: light profiling gives them, so they are no characteristics.
TENSOR_PREFIX = "tensor_"

# Below this coefficient of variation a column is noise, and standardising would blow the noise up.
_LEAST_COV = 1e-3
# Components are kept until they hold this share of the variance.
_VARIANCE_SHARE = 0.9995
# Scores closer than this are equal but for rounding; a standardised column has the unit 1.
_SCORE_DECIMALS = 9
# The most names that a note lists.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Characteristics:
    """The metrics that the launches of a list are compared by.

    Attributes
    ----------
    columns : the metrics' names.
    missing : characteristics of the paper that no launch has.
    costs : metrics that are left out because they are costs, where all are asked for.
    complete : (n,) whether a launch has what it takes to be compared with the others.
    """

    columns: tuple[str, ...]
    missing: tuple[str, ...]
    costs: tuple[str, ...]
    complete: BoolArray

    @property
    def complete_from_start(self) -> int:
        """How many launches from the first on are complete without a gap."""
        return len(self.complete) if self.complete.all() else int(np.argmin(self.complete))


@dataclass(frozen=True, slots=True)
class StandardisedRows:
    """Launches as rows of standardised characteristics: mean 0, population standard deviation 1.

    Attributes
    ----------
    rows : the distinct rows; no columns, and so one row, where nothing varies.
    columns : the metrics behind its columns.
    constant : metrics that are left out because they hardly vary.
    gappy : metrics that are left out because some of the launches lack them.
    """

    rows: DistinctRows
    columns: tuple[str, ...]
    constant: tuple[str, ...]
    gappy: tuple[str, ...]

    def notes(self) -> tuple[str, ...]:
        """Return what the user should know of the columns left out."""
        notes = []
        if self.gappy:
            notes.append(
                f"{len(self.gappy)} metrics are left out, as some launches lack them, {self.gappy[0]} for one"
            )
        if not self.columns:
            notes.append("no metric tells the launches apart, so all of them are one group")
        return tuple(notes)


def find_characteristics(launches: LaunchList, choice: ColumnChoice) -> Characteristics:
    """Return by which metrics to compare the launches, and which launches have them.

    With ``published`` a launch is complete that has all of the paper's characteristics that any launch has.
    With ``all`` it is one that has at least half as many metrics as the launch that has most: tools leave
    single metrics of single launches out, and a launch is not refused for that.
    """
    features = launches.features or Features()
    costs: tuple[str, ...] = ()
    if choice == "published":
        found = [features.first_of(spellings) for spellings in CHARACTERISTICS]
        columns = tuple(name for name in found if name is not None)
        missing = tuple(names[0] for names, name in zip(CHARACTERISTICS, found, strict=True) if name is None)
        needed = len(columns)
    else:
        measured_ones = [name for name in features.metrics if _is_measured(features, name)]
        costs = tuple(name for name in measured_ones if is_cost(name, features.units.get(name)))
        columns = tuple(name for name in measured_ones if name not in costs)
        missing = ()
        needed = 0
    measured = np.zeros(len(launches), dtype=np.int64)
    for name in columns:
        measured += np.isfinite(features.metrics[name])
    if choice == "all":
        needed = -(-int(measured.max(initial=0)) // 2)
    return Characteristics(columns, missing, costs, (measured >= max(needed, 1)))


def _is_measured(features: Features, name: str) -> bool:
    return not name.startswith(TENSOR_PREFIX) and bool(np.isfinite(features.metrics[name]).any())


def require_characteristics(found: Characteristics, method: str) -> None:
    """Check that every launch has its characteristics.

    Raises
    ------
    NotApplicableError : some launch lacks them; the remedy names the file that would supply them.
    """
    launches = len(found.complete)
    lacking = launches - int(np.count_nonzero(found.complete))
    if lacking == 0:
        return
    if lacking == launches:
        raise NotApplicableError(
            f"{method} needs metrics of every launch, and the profile has none of those it goes by",
            remedy=recording_remedy(),
        )
    raise NotApplicableError(
        f"{method} needs metrics of every launch; {lacking:,} of {launches:,} launches lack them",
        remedy=Wording("{}, or choose two-level", recording_remedy())
        if found.complete[0]
        else recording_remedy(),
    )


def recording_remedy() -> str:
    """Return what to record for methods that need characteristics, and how to pass it on."""
    return Wording(
        f"record {len(CHARACTERISTICS) + 1} metrics with the ncu command that `kernelpoint methods` prints, "
        "and give the page to `features`"
    )


def column_setting() -> Any:
    """Return the field of a method's options that says which metrics launches are compared by."""
    return setting(
        "published",
        "published: the metrics of Principal Kernel Analysis, Table 2, that the profile has; all: every "
        f"metric but {COSTS}",
    )


def column_note(found: Characteristics) -> tuple[str, ...]:
    """Return a note on the columns that are not compared: costs, or what the profile lacks."""
    if found.costs:
        named, more = ", ".join(found.costs[:_MOST_NAMED]), len(found.costs) - _MOST_NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        count = len(found.columns) + len(found.costs)
        return (f"{len(found.columns):,} of {count:,} metrics are gone by, not {named}{rest}: {COSTS}",)
    if not found.missing:
        return ()
    used, published = len(found.columns), len(CHARACTERISTICS)
    lacking = ", ".join(found.missing)
    return (f"{used} of the {published} published characteristics are used; the profile lacks {lacking}",)


def standardise(metrics: Mapping[str, FloatArray], columns: tuple[str, ...]) -> StandardisedRows:
    """Return launches as standardised rows, columns without variation dropped.

    A column is dropped whose coefficient of variation, population standard deviation / |mean|, is below 1e-3;
    mean 0 with variation stays. One that some launch lacks is dropped as well.

    Parameters
    ----------
    metrics : name -> (n,), at least the columns.
    """
    launches = len(metrics[columns[0]])
    whole = tuple(name for name in columns if np.isfinite(metrics[name]).all())
    distinct = distinct_rows([metrics[name] for name in whole], launches)
    # Neither the coefficient of variation nor the standardised column depends on the unit, and squares of
    # values up to 1 cannot overflow.
    largest = np.abs(distinct.values).max(axis=0)
    values = distinct.values / np.where(largest > 0, largest, 1.0)
    mean = np.average(values, axis=0, weights=distinct.count)
    centred = values - mean
    std = np.sqrt(np.average(centred**2, axis=0, weights=distinct.count))
    varies = (std > 0) & (std >= _LEAST_COV * np.abs(mean))
    rows = distinct.with_values(centred[:, varies] / std[varies])
    return StandardisedRows(
        rows,
        columns=tuple(name for name, one in zip(whole, varies.tolist(), strict=True) if one),
        constant=tuple(name for name, one in zip(whole, varies.tolist(), strict=True) if not one),
        gappy=tuple(name for name in columns if name not in whole),
    )


def principal_components(rows: DistinctRows) -> DistinctRows:
    """Return the launches on the fewest principal axes that hold 99.95 % of the variance.

    It is scikit-learn's ``PCA(0.9995)`` of all launches, from the distinct rows and their counts alone.
    Scores that differ by rounding only count as equal.
    """
    if rows.values.shape[1] == 0:
        return rows
    covariance = np.atleast_2d(np.cov(rows.values, rowvar=False, fweights=rows.count, bias=True))
    variance, axes = np.linalg.eigh(covariance)
    share = np.cumsum(variance[::-1].clip(0)) / variance.clip(0).sum()
    kept = min(int(np.searchsorted(share, _VARIANCE_SHARE)) + 1, len(share))
    scores = rows.values @ axes[:, ::-1][:, :kept]
    return rows.with_values(scores, _SCORE_DECIMALS)
