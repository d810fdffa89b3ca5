"""Principal Kernel Selection: k-means on principal components of metrics. [Principal Kernel Analysis 3.1]

The number of groups is chosen by the measured total, so the error it reports is no prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.pka.characteristics import (
    Characteristics,
    ColumnChoice,
    column_note,
    column_setting,
    find_characteristics,
    principal_components,
    require_characteristics,
    standardise,
)
from sampling.methods.pka.launch_clusters import k_means_groupings
from sampling.methods.pka.represented_groups import as_picks, choose, measured_cost, unmet_note
from sampling.methods.settings import FRACTION, MethodOptions, Span, setting
from sampling.progress import Progress
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import Features, LaunchList

# Fixed, so that the plan's seed does not move the groups. (docs/methods.md, 7 Principal Kernel Analysis)
_SEED = 0


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """How launches are grouped."""

    columns: ColumnChoice = column_setting()
    error: float = setting(
        0.05,
        "the fewest groups are taken that project the total with an error below this fraction",
        span=FRACTION,
    )
    k_max: int = setting(20, "the most groups tried", span=Span(least=1))
    restarts: int = setting(
        10, "how often k-means starts anew, from a fixed seed, for each number of groups", span=Span(least=1)
    )


@dataclass(frozen=True, slots=True)
class Selection:
    """The principal kernels of the first j launches.

    Attributes
    ----------
    group : (j,) the group of each launch, numbered by first launch.
    representative : (k,) the first launch of each group.
    notes, details : as `Picks` has them.
    """

    group: IntArray
    representative: IntArray
    notes: tuple[str, ...]
    details: dict[str, Any]


def pick(request: PickRequest[Options]) -> Picks:
    """Return the first launch of each group, for all launches of the group.

    Raises
    ------
    NotApplicableError : some launch lacks the metrics.
    """
    launches, options, progress = request.launches, request.options, request.progress
    found = find_characteristics(launches, options.columns)
    require_characteristics(found, "pks")
    selection = select_kernels(launches, found, len(launches), options, progress)
    return as_picks(launches, selection.group, selection.representative, selection.notes, selection.details)


def select_kernels(
    launches: LaunchList,
    found: Characteristics,
    first: int,
    options: Options,
    progress: Progress | None = None,
) -> Selection:
    """Return the principal kernels of the first launches, all of which are complete.

    The seed of k-means is fixed, so that the plan's ``seed`` does not move the groups.
    """
    rng = np.random.default_rng(_SEED)
    features = launches.features or Features()
    table = standardise({name: features.metrics[name][:first] for name in found.columns}, found.columns)
    components = principal_components(table.rows)
    cost = measured_cost(launches, first)
    groupings = k_means_groupings(components, options.k_max, options.restarts, rng, progress)
    choice = choose(groupings, cost.values, options.error)
    return Selection(
        choice.groups.group_of_row[components.row_of],
        choice.groups.representative,
        column_note(found) + table.notes() + unmet_note(choice, options.error, "numbers of groups"),
        {
            "k": len(choice.groups),
            "truth": cost.name,
            "projected_error": choice.error,
            "projected_errors": list(choice.errors),
            "components": components.values.shape[1],
            "columns": list(table.columns),
            "columns_left_out": [*table.constant, *table.gappy],
            "distinct_rows": len(components),
        },
    )


METHOD = Method(
    name="pks",
    source="Principal Kernel Analysis, section 3.1",
    needs=("metrics of Nsight Compute of every launch",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
)
