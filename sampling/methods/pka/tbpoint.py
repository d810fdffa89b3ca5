"""TBPoint as Principal Kernel Analysis compares it: hierarchical clustering of metrics.

[Principal Kernel Analysis section 5.1]: in place of TBPoint's threshold, tuned by hand for each program, 20
of them are tried, and one is chosen by Principal Kernel Selection's criterion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import NotApplicableError
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.pka.characteristics import (
    ColumnChoice,
    column_note,
    column_setting,
    find_characteristics,
    require_characteristics,
    standardise,
)
from sampling.methods.pka.distinct_rows import DistinctRows
from sampling.methods.pka.represented_groups import (
    RepresentedGroups,
    as_picks,
    choose,
    measured_cost,
    represented_by_central,
    unmet_note,
)
from sampling.methods.settings import FRACTION, MethodOptions, setting
from sampling.progress import Progress
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import Features
from sampling.text import Wording

#: Distances between all pairs of so many launches take 1.6 GB, and are held twice.
MOST_LAUNCHES = 20_000
#: 0.20, 0.19, ... 0.01, in units of standardised characteristics.
THRESHOLDS = tuple(hundredths / 100 for hundredths in range(20, 0, -1))


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """How launches are grouped."""

    columns: ColumnChoice = column_setting()
    error: float = setting(
        0.05,
        "the largest threshold is taken that projects the total with an error below this fraction",
        span=FRACTION,
    )


def pick(request: PickRequest[Options]) -> Picks:
    """Return the launch nearest to the mean of each group, for all launches of the group.

    Raises
    ------
    NotApplicableError : some launch lacks the metrics, or there are more than 20,000 launches.
    """
    launches, options, progress = request.launches, request.options, request.progress
    # First, for whatever metrics are recorded, so many launches stay too many.
    if len(launches) > MOST_LAUNCHES:
        raise NotApplicableError(
            f"tbpoint compares all pairs of launches: {len(launches):,} would need "
            f"{len(launches) ** 2 * 8 / 1e9:,.0f} GB of memory, so it takes at most {MOST_LAUNCHES:,}",
            remedy=Wording("select fewer by `launches=A:B`, or choose pks"),
        )
    found = find_characteristics(launches, options.columns)
    require_characteristics(found, "tbpoint")
    features = launches.features or Features()
    table = standardise(features.metrics, found.columns)
    cost = measured_cost(launches)
    choice = choose(linkage_groupings(table.rows, progress), cost.values, options.error)
    return as_picks(
        launches,
        choice.groups.group_of_row[table.rows.row_of],
        choice.groups.representative,
        column_note(found) + table.notes() + unmet_note(choice, options.error, "thresholds"),
        {
            "k": len(choice.groups),
            "truth": cost.name,
            "threshold": THRESHOLDS[choice.index],
            "projected_error": choice.error,
            "projected_errors": list(choice.errors),
            "columns": list(table.columns),
            "columns_left_out": [*table.constant, *table.gappy],
            "distinct_rows": len(table.rows),
        },
    )


def linkage_groupings(rows: DistinctRows, progress: Progress | None) -> Iterator[RepresentedGroups]:
    """Yield the groups of each of ``THRESHOLDS``: clusters merge at an average distance below it."""
    if progress is not None:
        progress(0, 0, "comparing all pairs of launches")
    if len(rows) == 1:
        yield represented_by_central(rows, np.zeros(1, dtype=np.int64))
        return
    from scipy.cluster.hierarchy import fcluster, linkage

    # All launches, not the distinct rows: each weighs in the average distances between clusters.
    tree: FloatArray = linkage(rows.values[rows.row_of], method="average", metric="euclidean")
    for threshold in THRESHOLDS:
        # SciPy merges at a distance up to its threshold, scikit-learn and the text below it.
        labels = fcluster(tree, np.nextafter(threshold, 0), criterion="distance")
        yield represented_by_central(rows, labels[rows.first])


METHOD = Method(
    name="tbpoint",
    source="TBPoint, as Principal Kernel Analysis, section 5.1, compares it",
    needs=("metrics of Nsight Compute of every launch", "at most 20,000 launches"),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
)
